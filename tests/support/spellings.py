"""One base URL in the many ways in which people write it."""

from hypothesis import strategies as st

_LOOPBACK = (
    st.sampled_from(["localhost", "localhost.", "[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:7f00:1]"])
    | st.tuples(*[st.integers(0, 255)] * 3).map("127.{0[0]}.{0[1]}.{0[2]}".format)
    | st.integers(1, 254).map("[::ffff:127.0.0.{}]".format)
)
_LABELS = st.lists(st.text("abcxyz019", min_size=1, max_size=5).map("n{}".format), min_size=2)


def local_urls(port: int) -> st.SearchStrategy[str]:
    """Draw base URLs of a service on this machine."""
    return _LOOPBACK.flatmap(lambda host: _urls("http", host, port))


@st.composite
def url_pairs(draw: st.DrawFn) -> tuple[str, str]:
    """Draw two base URLs of one service."""
    host = draw(_LABELS.map(".".join))
    scheme, port = draw(st.sampled_from([("http", 80), ("https", 443), ("https", 8443)]))
    urls = _urls(scheme, host, port) | _urls(scheme, f"{host}.", port)
    return draw(urls), draw(urls)


@st.composite
def _urls(draw: st.DrawFn, scheme: str, host: str, port: int) -> str:
    default = {"http": 80, "https": 443}[scheme] == port
    ports = [f":{port}", f":0{port}", *(["", ":"] if default else [])]
    path = draw(st.sampled_from(["", "/", "/v1", "/v1/"]))
    name = "".join(draw(st.sampled_from([str.lower, str.upper]))(one) for one in host)
    return f"{draw(st.sampled_from([scheme, scheme.upper()]))}://{name}{draw(st.sampled_from(ports))}{path}"
