from tests.support.bots import service
from tests.support.home import home
from tests.support.proxy import proxy

__all__ = ["home", "proxy", "service"]
