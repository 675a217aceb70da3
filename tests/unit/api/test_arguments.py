import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.api.arguments import Address, parse_address, service_of
from commandsync.errors import PlainHttpError, UsageError
from tests.support.texts import jwts, local_urls, tokens, url_pairs


@pytest.mark.parametrize(
    ("text", "base_url"),
    [
        ("https://listing.example", "https://listing.example"),
        ("https://listing.example/", "https://listing.example"),
        ("https://listing.example/v1", "https://listing.example"),
        ("https://listing.example/v1/", "https://listing.example"),
        (" https://Listing.Example:8443/Base/v1// ", "https://listing.example:8443/Base"),
        ("HTTPS://listing.example", "https://listing.example"),
        ("https://listing.example.", "https://listing.example"),
        ("https://listing.example/v1beta", "https://listing.example/v1beta"),
        ("http://localhost:8080", "http://localhost:8080"),
        ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080"),
        ("http://127.8.8.8", "http://127.8.8.8"),
        ("http://[::1]:8080", "http://[::1]:8080"),
        ("HTTP://LOCALHOST:8080", "http://localhost:8080"),
        ("http://localhost.:8080", "http://localhost:8080"),
        ("https://Listing.Example.:8443/", "https://listing.example:8443"),
        ("http://127.0.0.1:", "http://127.0.0.1"),
        ("http://[::FFFF:127.0.0.1]", "http://[::ffff:127.0.0.1]"),
    ],
)
def test_a_base_url_has_one_spelling(text: str, base_url: str) -> None:
    address = parse_address(text)

    assert str(address) == base_url
    assert address.api == f"{base_url}/v1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not an http or https URL"),
        ("listing.example", "not an http or https URL"),
        ("listing.example:8080", "not an http or https URL"),
        ("//listing.example", "not an http or https URL"),
        ("ftp://listing.example", "not an http or https URL"),
        ("https://", "not an http or https URL"),
        ("https:///v1", "not an http or https URL"),
        ("https://listing.example:port", "is not a URL"),
        ("https://listing.example:99999", "is not a URL"),
        ("https://[::1", "is not a URL"),
        ("https://listing.example/a b", "contains a space"),
        ("https://listing.éxample", "contains a space"),
        ("https://listing.example?x=1", "a query or a fragment"),
        ("https://listing.example/#top", "a query or a fragment"),
        ("https://listing.example/v0", "has another version"),
        ("https://listing.example/v2/", "has another version"),
        ("http://[::1].evil.example", "has no valid host"),
        ("http://[::1]evil.example", "has no valid host"),
        ("http://[::1%25eth0]", "has no valid host"),
        ("http://127.0.0.1\\.evil.example", "has no valid host"),
        ("http://127.0.0.1;evil.example", "has no valid host"),
        ("http://127.0.0.1,evil.example", "has no valid host"),
        ("http://localhost%00.evil.example", "has no valid host"),
        ("http://-", "has no valid host"),
        ("http://localhost\\@evil.example", "a user name or password"),
        ("https://user@listing.example", "a user name or password"),
        ("https://:pass@listing.example", "a user name or password"),
    ],
)
def test_what_is_no_base_url_is_refused_with_an_example(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        parse_address(text)

    assert "https://listing.example" in str(caught.value.hint)


@pytest.mark.promise("base-url-credentials")
@pytest.mark.parametrize(
    "text",
    [
        "https://user:marked-secret@listing.example",
        "https://user:marked-secret@listing.example:port",
        "https://user:marked-secret@listing.éxample/a b",
        "ftp://user:marked-secret@listing.example",
        "user:marked-secret@listing.example",
        "https://listing.example?token=marked-secret",
        "https://listing.example/#marked-secret",
    ],
)
def test_a_secret_in_a_base_url_is_not_shown(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_address(text)

    assert "marked-secret" not in str(caught.value) + str(caught.value.hint)


@given(
    token=st.one_of(tokens, jwts),
    form=st.sampled_from(["{}", " {}\n", "Bot {}", "{}:443", "{}/v1"]),
)
def test_a_token_in_the_place_of_a_base_url_is_not_shown(token: str, form: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_address(form.format(token))

    assert token not in str(caught.value) + str(caught.value.hint)


@given(
    token=jwts, form=st.sampled_from(["https://{}", "https://listing.example/{}/v1", "http://{}:1"])
)
def test_a_token_within_a_base_url_is_not_shown_either(token: str, form: str) -> None:
    with pytest.raises(UsageError, match="contains a bot token") as caught:
        parse_address(form.format(token))

    assert token not in str(caught.value) + str(caught.value.hint)


@given(
    labels=st.lists(
        st.from_regex(r"[a-z][a-z0-9-]{0,20}[a-z]", fullmatch=True), min_size=1, max_size=5
    )
)
def test_a_name_is_never_taken_for_a_token(labels: list[str]) -> None:
    assert parse_address(f"https://{'.'.join(labels)}").base_url.endswith(labels[-1])


@pytest.mark.promise("plain-http")
@pytest.mark.parametrize(
    "text",
    [
        "http://listing.example",
        "http://10.0.0.1",
        "http://localhost.example",
        "http://localhost.evil.example:8080",
        "http://a.localhost",
        "http://127.0.0.1.evil.example",
        "http://127.1",
        "http://2130706433",
        "http://0x7f000001",
        "http://0.0.0.0",
        "http://[::]",
        "http://[::ffff:10.0.0.1]",
        "http://127.0.0.1.example",
        "http://[fe80::1]",
    ],
)
def test_plain_http_goes_to_this_machine_only(text: str) -> None:
    with pytest.raises(PlainHttpError, match="plain http to another machine") as caught:
        parse_address(text)

    assert "insecure_http=True" in str(caught.value.hint)
    assert str(parse_address(text, insecure_http=True)) == text


@pytest.mark.promise("this-machine")
@pytest.mark.parametrize(
    ("url", "loopback"),
    [
        ("https://localhost", True),
        ("http://127.0.0.1:1", True),
        ("http://[::1]", True),
        ("https://listing.example", False),
        ("https://192.168.0.1", False),
        ("", False),
    ],
)
def test_an_address_knows_whether_it_is_this_machine(url: str, *, loopback: bool) -> None:
    assert Address(url).loopback is loopback


def _service(url: str) -> str:
    return service_of(str(parse_address(url, insecure_http=True)))


@given(
    st.integers(1, 65535).flatmap(lambda p: st.tuples(local_urls(p), local_urls(p))) | url_pairs()
)
def test_a_service_is_one_however_its_url_is_spelled(urls: tuple[str, str]) -> None:
    one, other = urls

    assert _service(one) == _service(other)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://a.example", "https://b.example", False),
        ("https://a.example", "https://a.example:8443", False),
        ("http://localhost:8000", "http://127.0.0.1:8001", False),
        ("https://10.0.0.1", "https://10.0.0.2", False),
        ("https://[fe80::1]", "https://[fe80::2]", False),
        ("http://a.example", "https://a.example", True),
        ("https://a.example/listing", "https://a.example/other", True),
        ("https://[fe80:0::1]", "https://[fe80::1]", True),
    ],
)
def test_another_service_is_another_host_or_port_alone(one: str, other: str, *, same: bool) -> None:
    assert (_service(one) == _service(other)) is same
