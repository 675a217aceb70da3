"""A bot as the service sends it, with all its fields."""

from typing import Any

WHOLE: dict[str, Any] = {
    "id": "42",
    "provider": "discord",
    "profile": {
        "avatar": "a1",
        "avatarURL": "https://cdn.example/a.png",
        "username": "Helper",
        "discriminator": "0001",
        "tag": "Helper#0001",
        "banner": "https://cdn.example/b.png",
    },
    "prefix": "!",
    "information": {
        "description": "Helps.",
        "overview": "Help",
        "creator": {"isTeam": True, "id": "1"},
        "tags": ["fun", "music"],
    },
    "statistics": {
        "servers": 12,
        "dailyVotes": 1,
        "weeklyVotes": 2,
        "monthlyVotes": 3,
        "totalVotes": 4,
    },
    "state": 1,
    "certificate": 2,
    "inviteURL": "https://chat.example/invite",
    "ratings": {"average": 4.5, "total": 7},
    "vanity": "helper",
    "theme": {"enabled": True, "automatic": False, "color": "#00ff00", "colorLighter": "#aaffaa"},
    "status": 3,
    "createdAt": "2021-02-03T04:05:06.789Z",
    "updatedAt": "2022-02-03T04:05:06.789Z",
}
