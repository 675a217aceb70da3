"""Turns whatever went wrong into the one error envelope and its status code."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from commandsync.api.address import API_VERSION
from commandsync.server.bodies import complaint
from commandsync.server.endpoint import AnotherBotError, json_response
from commandsync.server.listing import UnknownError
from commandsync.server.tokens import BadTokenError

if TYPE_CHECKING:
    from fastapi import FastAPI, Request, Response

_WORDS = {
    400: "the body is not valid JSON in UTF-8, or nested too deeply",
    404: f"there is nothing at this path; the interface begins with /v{API_VERSION}/bot",
    405: "the path does not answer this method",
}


def install(app: FastAPI) -> None:
    """Give an application the handlers of this module."""
    app.add_exception_handler(BadTokenError, _bad_token)
    app.add_exception_handler(AnotherBotError, _another_bot)
    app.add_exception_handler(UnknownError, _unknown)
    app.add_exception_handler(RequestValidationError, _bad_body)
    app.add_exception_handler(HTTPException, _by_the_framework)
    app.add_exception_handler(Exception, _own_trouble)


async def _bad_token(_request: Request, error: Exception) -> Response:
    response = json_response({"error": str(error)}, HTTPStatus.UNAUTHORIZED)
    response.headers["WWW-Authenticate"] = "Bot"
    return response


async def _another_bot(_request: Request, error: Exception) -> Response:
    return json_response({"error": str(error)}, HTTPStatus.FORBIDDEN)


async def _unknown(_request: Request, error: Exception) -> Response:
    return json_response({"error": str(error)}, HTTPStatus.NOT_FOUND)


async def _bad_body(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - installed for this one
    return json_response({"error": complaint(error.errors())}, HTTPStatus.BAD_REQUEST)


async def _by_the_framework(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - installed for this one
    words = _WORDS.get(error.status_code, error.detail)
    response = json_response({"error": words}, error.status_code)
    response.headers.update(error.headers or {})
    return response


async def _own_trouble(_request: Request, _error: Exception) -> Response:
    """Say no more than that: the cause goes to the log, where the framework writes it."""
    return json_response(
        {"error": "the service is in trouble; its log says more"},
        HTTPStatus.INTERNAL_SERVER_ERROR,
    )
