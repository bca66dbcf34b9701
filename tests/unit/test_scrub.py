"""Secrets leave a text, everything else stays."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.core.scrub import scrub

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA7\nq83hfuQ==\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(("text", "clean"), [
    ("Log in with " + "AKIA" + "QX7" * 6 + " now", "Log in with [REDACTED_KEY] now"),
    ("password=harbour-42", "password=[REDACTED_SECRET]"),
    ("password:harbour-42,", "password=[REDACTED_SECRET],"),
    ("use (ghp_" + "a1" * 12 + ").", "use ([REDACTED_KEY])."),
    ("GITHUB=ghp_" + "a1" * 12, "GITHUB=[REDACTED_KEY]"),
    ("GITHUB:ghp_" + "a1" * 12, "GITHUB=[REDACTED_KEY]"),
    ("Authorization: Bearer  abcdefghijklmnop", "Authorization: Bearer  [REDACTED_TOKEN]"),
    ("a bearer of news", "a bearer of news"),
    ("sk_live_1", "[REDACTED_KEY]"),
    ("sk-short", "sk-short"),
    (f"see {JWT}!", "see [REDACTED_TOKEN]!"),
    (f"key:\n{PEM}\nend", "key:\n[REDACTED_KEY]\nend"),
    (PEM.replace("\n", " "), "[REDACTED_KEY]"),
    ("-----BEGIN PRIVATE KEY-----\nMIIEowIBAAKCAQEA7aaaa\n", "[REDACTED_KEY]\n"),
    ("postgres://ana:p4ss@word@db/x", "postgres://ana:[REDACTED_SECRET]@db/x"),
    ("https://ghp_" + "a1" * 12 + "@host/x.git", "https://[REDACTED_KEY]@host/x.git"),
    ("https://host/?token=abc&x=1", "https://host/?token=[REDACTED_SECRET]&x=1"),
    ("xoxb-" + "1234567890-abc", "[REDACTED_KEY]"),
    ("npm_" + "a1" * 18, "[REDACTED_KEY]"),
    ("npm_config_registry", "npm_config_registry"),
    ("OPENAI_API_KEY=abc123 and DB_PASSWORD=x", "OPENAI_API_KEY=[REDACTED_SECRET] and DB_PASSWORD=[REDACTED_SECRET]"),
    ("password: hunter2 opens it", "password: [REDACTED_SECRET] opens it"),
    ("the password: swordfish\nopens it", "the password: [REDACTED_SECRET]\nopens it"),
    ("how to reset a password: where do I click", "how to reset a password: where do I click"),
    ("a secret: the garden", "a secret: the garden"),
    ("api_key = x.", "api_key = [REDACTED_SECRET]."),
    ("aws_secret_access_key = wJalr/K7", "aws_secret_access_key = [REDACTED_SECRET]"),
    ('{"api_key":"x1", "token": "y"}', '{"api_key"=[REDACTED_SECRET]", "token": "[REDACTED_SECRET]"}'),
    ("token: Bearer abcdefghijklmnop", "token: Bearer [REDACTED_TOKEN]"),
    ("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic [REDACTED_TOKEN]"),
    ("glpat-" + "a1b2c3d4e5f6", "[REDACTED_KEY]"),
    ("hf_" + "a1" * 12, "[REDACTED_KEY]"),
    ("a token is a word; a password too", "a token is a word; a password too"),
    ("git@host:team/repo.git and mail a@b.c", "git@host:team/repo.git and mail a@b.c"),
])
def test_a_secret_is_replaced_and_the_rest_stays(text: str, clean: str) -> None:
    assert scrub(text) == clean
    assert scrub(clean) == clean


_WORDS = st.sampled_from(["password=", "token:", "Bearer", "bearer:", "sk-", "AKIA", "x" * 20, "[REDACTED_SECRET]", "]",
                          "(", "ghp_", "https://", "a:b@", "eyJabcdefgh.abcd.", "=", ":", "?token=", "npm_",
                          "REDACTED_KEY", ".", "password: ", "DB_TOKEN", " = ", "\"api_key\": ", "Authorization: Basic ", "'"])
_PARTS = st.one_of(_WORDS, st.sampled_from([" ", "\n", "\t", "  "]), st.text(max_size=4))


@given(st.lists(_PARTS, max_size=14).map("".join))
def test_scrubbing_twice_is_scrubbing_once_and_white_space_stays(text: str) -> None:
    once = scrub(text)
    assert scrub(once) == once
    assert re.findall(r"\s+", once) == re.findall(r"\s+", text)
