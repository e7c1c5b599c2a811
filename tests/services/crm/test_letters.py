"""Letters put together again: what any mail program reads in them is what the service told, and nothing else."""

from __future__ import annotations

from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default

from hypothesis import given, settings
from hypothesis import strategies as st

from noarkit.services.crm.letters import build_letter, plain

ADDRESSES = st.sampled_from(["a@x.example", "o'neil+b@x.example", "", "ø@x.example", "a b, c@d.e", "<a@x.example>"])
people = st.fixed_dictionaries({"user_name": st.text(max_size=60), "email": ADDRESSES})
few = settings(max_examples=40, deadline=None)


def read(email: dict[str, object]) -> EmailMessage:
    """The letter as the standard library reads it."""
    found = message_from_bytes(build_letter(email), policy=default)
    assert isinstance(found, EmailMessage)
    return found


@few
@given(st.text(max_size=400), st.text(max_size=300), st.text(max_size=80))
def test_subjects_contents_and_names_of_files_come_back_as_they_were(subject: str, content: str, name: str) -> None:
    email: dict[str, object] = {"message_id": "m1", "subject": subject, "content": content}
    made = read(email | {"mail_format": "html", "attachments": [{"name": name, "size": 7}]})
    assert made["Subject"] == plain(subject)
    assert made["X-Attachment"] == plain(f"{name} (7 bytes)")
    assert made.get_payload(decode=True) == content.encode("utf-8", "backslashreplace")
    assert set(made.keys()) <= {
        "X-Reconstructed", "Subject", "Message-ID", "X-Attachment", "MIME-Version", "Content-Type",
        "Content-Transfer-Encoding",
    }  # fmt: skip
    assert max(map(len, build_letter(email).splitlines())) <= 998


def _close(text: str) -> str:
    """Without spaces: this reader puts one between the encoded words of a name."""
    return text.replace(" ", "")


@few
@given(st.lists(people, min_size=1, max_size=4))
def test_as_many_correspondents_are_read_as_were_told_whatever_they_are_called(told: list[dict[str, str]]) -> None:
    made = read({"message_id": "m1", "subject": "x", "to": told})
    named = [one for one in told if plain(one["user_name"]) or plain(one["email"])]
    assert len(made["To"].groups if named else ()) == len(named)
    for one, shown in zip(named, made["To"].groups if named else (), strict=True):
        name, at = plain(one["user_name"]), plain(one["email"])
        if shown.addresses:
            (address,) = shown.addresses
            assert (_close(address.display_name), address.addr_spec) == (_close(name), at)
        else:
            assert _close(name) in _close(shown.display_name) and _close(at) in _close(shown.display_name)


def test_a_name_with_a_comma_is_one_correspondent_and_an_address_that_headers_cannot_spell_stands_as_a_name() -> None:
    told = [{"user_name": 'Ås, "Sjef" Åse', "email": "a@x.example"}, {"user_name": "Bø", "email": "bø@x.example"}]
    first, second = read({"message_id": "1", "subject": "x", "to": told})["To"].groups
    assert str(first.addresses[0].display_name) == 'Ås, "Sjef" Åse'
    assert (second.display_name, second.addresses) == ("Bø <bø@x.example>", ())
