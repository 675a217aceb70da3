"""Texts that try to be more than text on a page."""

from hypothesis import strategies as st

FRAGMENTS = (
    *("<script>alert(1)</script>", "</script>", "<!--", "-->", "]]>", "<![CDATA[", "<?x?>"),
    *('"', "'", "`", ">", "<", "&", "&lt;", "&#60;", "&quot;", "&#0;", "\\", "/", "="),
    *('" onmouseover="alert(1)', "' autofocus onfocus='alert(1)", '"><img src=x onerror=alert(1)>'),
    *("</title>", "</li></ul></main><h1>", "</style>", "<svg/onload=alert(1)>", "<base href=//x>"),
    *("javascript:alert(1)", "data:text/html,x", "{{7*7}}", "{% raw %}", "${7*7}", "%00"),
    *("\u202e", "\u2066", "\u200d", "\ufeff", "\x00", "\x1b", "\x0c", "\u2028", "\U0001f3b5"),
    *("مرحبا", "שלום", "a\u0300\u0301\u0302", " ", "\n", "\t"),
)

texts = (
    st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=6), min_size=1, max_size=6)
    .map("".join)
    .filter(str.strip)
)
"""Such texts, which are not empty."""
