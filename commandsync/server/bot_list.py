"""The endpoint of the list of bots."""

from math import ceil
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response

from commandsync.server import counters, selection, storage
from commandsync.server.endpoint import Answers, Db, Moment
from commandsync.server.records import Answer, BotPage, refusals
from commandsync.server.tables import SORTED

router = APIRouter()

_Q = (
    "the text to search in names, overviews, descriptions and tags: its words in any order, and "
    "parts of words, without regard to case and accents; punctuation separates words"
)
_SORT = (
    f"the field to sort by: {', '.join(f'`{path}`' for path in SORTED)}, with or "
    "without the path before the name; with a `-` in front in descending order"
)
_IDS = "only bots with these ids, separated by commas"
_CERTIFIED = "only bots with a certificate above 0, or only others"
_TAGS = "only bots with all of these tags, at most 50, separated by commas"


@router.get(
    "/bots",
    tags=["bots"],
    summary="Read, search and sort the list of bots",
    response_model=Answer[BotPage],
    responses=refusals(400),
)
def list_bots(  # noqa: PLR0913 - the interface's own parameters
    database: Db,
    moment: Moment,
    answer: Answers,
    *,
    limit: Annotated[
        int, Query(ge=1, le=100, description="the bots of a page", examples=[12])
    ] = 12,
    page: Annotated[
        int, Query(ge=1, le=selection.FARTHEST, description="the page, from 1", examples=[1])
    ] = 1,
    q: Annotated[str, Query(description=_Q, examples=["music"])] = "",
    sort: Annotated[
        str,
        Query(
            description=_SORT,
            examples=["-totalVotes"],
            json_schema_extra={"pattern": selection.SORT_PATTERN},  # the refusal names the fields
        ),
    ] = "",
    ids: Annotated[str, Query(description=_IDS, examples=["779641401482805289"])] = "",
    certified: Annotated[
        Literal["true", "false"] | None, Query(description=_CERTIFIED, examples=["true"])
    ] = None,
    tags: Annotated[str, Query(description=_TAGS, examples=["music,fun"])] = "",
) -> Response:
    """Return a page of bots; one past the last page is empty. No token is needed.

    Bots of equal value, and all bots without `sort`, are in the order of their additions.
    """
    wanted = selection.Wanted(
        page=page,
        limit=limit,
        q=q,
        sort=sort,
        ids=selection.separated(ids) if ids else None,
        certified=None if certified is None else certified == "true",
        tags=selection.separated(tags),
    )
    with database.reading() as connection:
        keys, number = selection.find(connection, wanted, days=counters.days(moment))
        bots = counters.with_counts(connection, storage.bots_of(connection, keys), at=moment)
    queries = {
        "page": page,
        "limit": limit,
        "sort": sort,
        "q": q,
        "certified": certified or "false",
        "tags": tags,
        "ids": ids or 0,
        "maxPage": max(1, ceil(number / limit)),
        "isSafety": True,
    }
    return answer("The bots.", data={"queries": queries, "data": bots})
