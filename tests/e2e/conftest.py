from tests.support.bots import proxy, service
from tests.support.home import home

__all__ = ["home", "proxy", "service"]
