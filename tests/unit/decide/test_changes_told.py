"""Statements that tell a change in their own way: from what to what, no longer, instead of, given up, told again."""

import pytest

from streams.decide.preferences import attitude_of
from streams.decide.words import words_of
from tests.unit.decide.test_statements import told_after

LIKENESS = 0.85
CHANGES = [
    ("Our rate limit is 100 requests per minute.", "The rate limit went from 100 to 250 requests per minute."),
    ("My job title is account manager.", "I was promoted from account manager to sales director."),
    ("My weekly running goal is 20 km.", "I raised my weekly running goal to 30 km."),
    ("Dana's mood status: calm", "Dana's mood status changed from 'calm' to 'tense' because of the move."),
    ("Dana's monthly income is 2000 euros.", 'Dana\'s career updated monthly_income from "2000" to "2500".'),
    ("My brother Tom lives in Leeds.", "Tom moved from Leeds to York."),
    ("Our database is PostgreSQL 14.", "We upgraded from PostgreSQL 14 to 16."),
    ("My boss is Tom.", "My boss is no longer Tom, it's Lucy now."),
    ("My boss is Tom.", "My boss is Lucy instead of Tom."),
    ("The meeting is on Tuesday.", "The meeting is on Thursday, not Tuesday."),
    ("We use Jenkins for CI.", "We use GitHub Actions for CI instead of Jenkins."),
    ("Mein Chef ist Tom.", "Mein Chef ist nicht mehr Tom, sondern Lucia."),
    ("Meine Miete beträgt 800 Euro.", "Meine Miete ist von 800 auf 900 Euro gestiegen."),
    ("Mi jefe se llama Ramón.", "Mi jefe ya no es Ramón, ahora es Lucía."),
    ("Mon chef s'appelle Luc.", "Mon chef n'est plus Luc, c'est Anne maintenant."),
    ("Mon loyer est de 700 euros.", "Mon loyer est passé de 700 à 750 euros."),
    ("我的老板是老王。", "我的老板不再是老王\uff0c现在是小李。"),
    ("我的房租是三千元。", "我的房租从三千元涨到了三千五百元。"),
    ("I play tennis.", "I gave up tennis because of my knee."),
    ("I drink coffee every morning.", "I quit coffee, I only drink tea now."),
    ("My car is a Golf.", "I sold my car last week."),
    ("I work at Norbank.", "I left Norbank in May."),
    ("Ich spiele Tennis.", "Ich habe mit dem Tennis aufgehört."),
    ("I love documentaries.", "I've lost interest in documentaries lately."),
    (
        "I don't really enjoy horror movies.",
        "I changed my mind about horror movies after a good one, I enjoy them now.",
    ),
]
NEVER = [
    ("I've been using Excel to track my daily expenses since March 1.", "I've never used Excel for tracking expenses."),
    ("I've never completed a first draft.", "I completed my first draft on April 1."),
]
BESIDE = [
    ("My car is not a Golf.", "I sold the Golf."),
    (
        "El taller de mi hermana repara relojes antiguos para clientes en Toledo.",
        "El taller de mi hermana repara relojes antiguos para clientes de toda la vida con esmero.",
    ),
    (
        "My aunt waters the tall roses behind the barn with rain from wooden barrels that her cousin built of cedar.",
        "My aunt waters the tall roses behind the barn herself.",
    ),
    ("My brother plays tennis.", "I gave up tennis."),
    ("Dana walks the grey dog along the river.", "Omar walks the grey dog along the river and the canal."),
    ("I never drink coffee.", "My brother drinks coffee."),
    ("I have never eaten sushi.", "I ate pizza yesterday."),
    (
        "The backup job runs every night and writes to the north bucket.",
        "The cleanup job runs every night and writes to the north bucket.",
    ),
    ("I ordered a red lamp for the kitchen desk.", "I ordered a blue lamp for the kitchen desk."),
    ("My sister Ana collects old stamps from Portugal.", "My sister Eva collects old stamps from Portugal."),
    ("My brother Bob lives in Leeds.", "Tom moved from Leeds to York."),
    ("My brother Bob lives in Leeds.", "I moved from Leeds to York."),
    ("I went to Rome with my brother in May.", "I went to Oslo with my brother in June."),
    ("I drink coffee every morning.", "I finished my coffee at the office."),
    ("I like biking in the woods.", "I sold my old bike."),
    ("I like jazz.", "I also like jazz festivals now."),
    ("Clothing I dislike: plain shirts", "Clothing I dislike plain shirts reason: I find plain shirts dull."),
    (
        "The lab ordered 40 litres of solvent for the north hall.",
        "The lab ordered 60 litres of solvent for the north hall.",
    ),
]
RETOLD = [
    (
        "Dana thanked her friends Ines and Otto for their support during her move.",
        "Dana thanked her friends Ines and Otto for their support during her move, which has been crucial.",
        "which has been crucial",
    ),
    (
        "Dana focused on building strategic partnerships with local bakeries on Jan 10, 2028.",
        "Dana focused on building strategic partnerships with local bakeries and schools to reach further.",
        "on Jan 10, 2028",
    ),
]

SAME = [
    ("I play the cello.", "The cello is my instrument."),
    ("My sister lives in Bergen.", "Bergen is where my sister lives."),
    ("I'm allergic to penicillin.", "I have a penicillin allergy."),
    ("Our staging database runs on PostgreSQL 15.", "PostgreSQL 15 powers our staging database."),
    ("I work as a nurse.", "I'm a nurse."),
    ("Ich mag Jazz.", "Ich liebe Jazz."),
    ("The meeting is at 3 pm.", "The meeting is at 15:00."),
    ("We deploy on Fridays at 18:00.", "Deployments happen Friday at 6 pm."),
    ("Mein Sohn heißt Ole.", "Der Name meines Sohnes ist Ole."),
    ("Mi perro se llama Toby.", "El nombre de mi perro es Toby."),
    ("Mon fils s'appelle Noé.", "Noé est mon fils."),
    ("我对花生过敏。", "我有花生过敏。"),
]
TURNED = [
    ("My sister likes my brother's wife.", "My brother's wife likes my sister."),
    ("The red car hit the blue bus.", "The blue bus hit the red car."),
    ("Alice is Bob's manager.", "Bob is Alice's manager."),
    ("I have a cello.", "I play the cello."),
    ("I work in Ghent.", "I live in Ghent."),
    ("The backup starts at 2:00.", "The backup ends at 2:00."),
    ("I can cook.", "I am a cook."),
]


@pytest.mark.parametrize(("old", "new"), SAME)
def test_the_same_in_other_words_is_known(old: str, new: str) -> None:
    decision = told_after(old, new, LIKENESS)

    assert (decision.event, decision.target) == ("NONE", 1)


@pytest.mark.parametrize(("old", "new"), TURNED)
def test_the_same_words_in_another_sense_are_new(old: str, new: str) -> None:
    assert told_after(old, new, LIKENESS).event == "ADD"


@pytest.mark.parametrize(("old", "new"), CHANGES + NEVER)
def test_a_change_replaces_what_it_names(old: str, new: str) -> None:
    decision = told_after(old, new, LIKENESS)

    assert (decision.event, decision.target) == ("UPDATE", 1)


@pytest.mark.parametrize(("old", "new"), BESIDE)
def test_what_only_sounds_alike_stays_beside_it(old: str, new: str) -> None:
    assert told_after(old, new, LIKENESS).event == "ADD"


@pytest.mark.parametrize(("old", "new", "kept"), RETOLD)
def test_a_retelling_replaces_and_keeps_when_it_was(old: str, new: str, kept: str) -> None:
    decision = told_after(old, new, LIKENESS)

    assert decision.event == "UPDATE"
    assert kept in decision.text


@pytest.mark.parametrize(
    ("text", "attitude"),
    [
        ("I took documentaries off my list, they have lost appeal.", "withdrawn"),
        ("After the trip I reconsidered my stance on crowded places.", "withdrawn"),
        ("My taste shifted towards lighter films, I now include comedies.", "changed"),
        ("The harbour is full of boats.", None),
    ],
)
def test_a_withdrawn_preference_is_told_from_a_changed_one(text: str, attitude: str | None) -> None:
    assert attitude_of(text) == attitude


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The shop opens at half past seven.", "The shop opens at 7:30."),
        ("The shop opens at a quarter to eight.", "The shop opens at 7:45."),
        ("The hall seats two hundred and five guests.", "The hall seats 205 guests."),
        ("Die Fähre legt um 18 Uhr ab.", "Die Fähre legt um 18:00 ab."),
        ("商店下午6点关门。", "商店18:00关门。"),
    ],
)
def test_times_and_numbers_are_read_as_they_are_spoken(one: str, other: str) -> None:
    assert words_of(one).all == words_of(other).all
