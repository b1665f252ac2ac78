"""Two statements after each other, from their words to the operation, however alike they are said to be."""

from datetime import UTC, datetime, timedelta

import pytest

from schemas.conversation import Scope, Turn
from schemas.facts import Fact
from streams.decide import Decision, DecisionOptions, Neighbour, decide
from streams.extract import extract

START = datetime(2026, 1, 1, tzinfo=UTC)
LIKENESS = 0.85
"""Stands for any cosine above the threshold: opposites, paraphrases and unrelated values lie side by side there."""
STATEMENTS = [
    ("My cat is called Zorro.", "The name of my cat is Zorro.", "NONE"),
    ("My bike is a Cannondale.", "My bike is a Trek now.", "UPDATE"),
    ("I drive a blue Honda.", "I drive a red Toyota now.", "UPDATE"),
    ("We use MySQL for the shop.", "We use MySQL for the blog.", "ADD"),
    ("The meeting is on Tuesday.", "The meeting is on Wednesday.", "UPDATE"),
    ("The meeting starts at 9:30.", "The meeting starts at 10:00.", "UPDATE"),
    ("I like pears.", "I like plums.", "ADD"),
    ("I like pears.", "I don't like pears.", "UPDATE"),
    ("I like pears.", "I hate pears.", "UPDATE"),
    ("I am a vegetarian.", "I am not a vegetarian anymore.", "UPDATE"),
    ("My sister lives in Oslo.", "My brother lives in Oslo.", "ADD"),
    ("My sister lives in Oslo.", "My sister lives in Bergen.", "UPDATE"),
    ("The door is open.", "The door is closed.", "UPDATE"),
    ("Caching is enabled on staging.", "Caching is disabled on staging.", "UPDATE"),
    ("Caching is enabled on staging.", "Caching is disabled on production.", "ADD"),
    ("The API key rotates every 30 days.", "The API key rotates every 60 days.", "UPDATE"),
    ("The rent is 900 euros.", "The rent is 950 euros.", "UPDATE"),
    ("I moved to Lyon.", "I live in Lyon.", "NONE"),
    ("I live in Lyon.", "I moved to Paris.", "UPDATE"),
    ("My daughter Ada plays chess.", "My daughter Eva plays chess.", "ADD"),
    ("I have two dogs.", "I have three dogs.", "UPDATE"),
    ("I visited Rome in May.", "I visited Rome in June.", "ADD"),
    ("I am 34 years old.", "I am 35 years old.", "UPDATE"),
    ("My email is a@b.org.", "My email is c@d.org.", "UPDATE"),
    ("The project deadline is 3 May.", "The project deadline is May 5.", "UPDATE"),
    ("The server has 16 GB of memory.", "The server has 32 GB of memory.", "UPDATE"),
    ("The frontend is written in Vue.", "We migrated the frontend to React.", "UPDATE"),
    ("I prefer tea over coffee.", "I prefer coffee over tea.", "UPDATE"),
    ("My dentist is Dr Osei.", "Please forget my dentist.", "DELETE"),
    ("I work at Acme.", "Please forget where I work.", "DELETE"),
    ("My address is 5 Hill Road.", "Can you delete my address?", "DELETE"),
    ("I am allergic to nuts.", "I am allergic to milk.", "ADD"),
    ("Ich heiße Jonas.", "Mein Name ist Jonas.", "NONE"),
    ("Mein Hund heißt Rex.", "Mein Hund heißt jetzt Bello.", "UPDATE"),
    ("Der Server läuft auf Port 8080.", "Der Server läuft auf Port 9090.", "UPDATE"),
    ("Meine Lieblingsfarbe ist Grün.", "Meine Lieblingsfarbe ist Rot.", "UPDATE"),
    ("Ich mag Tee.", "Ich mag keinen Tee.", "UPDATE"),
    ("Ich wohne in Bremen.", "Bitte vergiss, wo ich wohne.", "DELETE"),
    ("Vivo en Madrid.", "Ahora vivo en Sevilla.", "UPDATE"),
    ("Me gusta el café.", "No me gusta el café.", "UPDATE"),
    ("J'habite à Lyon.", "J'habite maintenant à Nantes.", "UPDATE"),
    ("J'aime le thé.", "Je n'aime pas le thé.", "UPDATE"),
    ("我住在北京。", "我现在住在上海。", "UPDATE"),
    ("我喜欢咖啡。", "我不喜欢咖啡。", "UPDATE"),
    ("我的狗叫小白。", "我的狗叫小白。", "NONE"),
    ("私は京都に住んでいます。", "私は大阪に住んでいます。", "UPDATE"),
    ("Vivo a Roma.", "Adesso vivo a Milano.", "UPDATE"),
    ("Ik woon in Utrecht.", "Ik woon nu in Leiden.", "UPDATE"),
    ("Moro em Lisboa.", "Agora moro no Porto.", "UPDATE"),
    ("Я живу в Москве.", "Теперь я живу в Казани.", "UPDATE"),
    ("The cache holds sessions.", "The cache holds sessions for ten minutes.", "UPDATE"),
    ("Jan works as a cook in Delft.", "Jan works as a cook.", "NONE"),
    ("The build takes 4 minutes.", "The build takes 4 minutes on CI.", "UPDATE"),
    ("Our standup is at 9.", "Sorry, it is at 10.", "UPDATE"),
    ("My flight leaves on Monday.", "Oops, I meant Tuesday.", "UPDATE"),
    ("The blue team won the cup.", "The red team won the cup.", "ADD"),
    ("Service A depends on service B.", "Service B depends on service A.", "ADD"),
    ("Kim's phone number is 555 1234.", "Lee's phone number is 555 1234.", "ADD"),
    ("Kim's phone number is 555 1234.", "Kim's phone number is 555 9999.", "UPDATE"),
    ("The wifi of the cabin is called Fjordnet.", "The wifi of the cabin is called Skognet.", "UPDATE"),
    ("My grandmother's cottage is in Lom.", "My grandfather's cottage is in Lom.", "ADD"),
    ("The nightly job writes to bucket alpha.", "The nightly job writes to bucket beta now.", "UPDATE"),
    ("Our team uses Slack.", "Our team uses Slack for standups.", "UPDATE"),
    ("Comments are enabled.", "Comments are not enabled.", "UPDATE"),
    ("Comments are enabled.", "Comments are disabled.", "UPDATE"),
    ("The retry limit is 3.", "The retry limit is five.", "UPDATE"),
    ("The retry limit is 3.", "The retry limit is three.", "NONE"),
    ("My son is six years old.", "My son is seven years old.", "UPDATE"),
    ("My son is 6 years old.", "My daughter is 6 years old.", "ADD"),
    ("Version 2.3 fixed the leak.", "Version 2.4 fixed the leak.", "ADD"),
    ("I take 20 mg of the pill each morning.", "I take 40 mg of the pill each morning.", "UPDATE"),
    ("I never drink wine.", "I always drink wine.", "UPDATE"),
    ("Smoking is permitted on the terrace.", "Smoking is forbidden on the terrace.", "UPDATE"),
    ("The gate was painted in 2019.", "The gate was painted in 2023.", "ADD"),
    ("My car is parked on level 3.", "My car is parked on level 5.", "UPDATE"),
    ("I'm learning Finnish.", "I'm learning Turkish.", "ADD"),
    ("My wife is called Noor.", "My wife's name is Noor.", "NONE"),
    ("My username is kite42.", "My username is kite43.", "UPDATE"),
    ("The staging database is db-stage-1.", "The production database is db-prod-1.", "ADD"),
    ("The staging database is db-stage-1.", "The staging database is db-stage-2.", "UPDATE"),
    ("Mira likes Jonas.", "Jonas likes Mira.", "ADD"),
    ("The alarm code is 7719.", "Forget the alarm code.", "DELETE"),
    ("I collect coins.", "Please forget that I collect coins.", "DELETE"),
    ("I collect coins.", "Please forget that I collect stamps.", "NONE"),
    ("My blood type is A.", "My blood type is B.", "UPDATE"),
    ("I don't eat pork.", "I don't eat beef.", "ADD"),
    ("I don't eat pork.", "I eat pork now.", "UPDATE"),
    ("Mein Bruder heißt Ole.", "Meine Schwester heißt Ole.", "ADD"),
    ("Die Heizung ist an.", "Die Heizung ist aus.", "UPDATE"),
    ("Ich bin 30 Jahre alt.", "Ich bin 31 Jahre alt.", "UPDATE"),
    ("Das Passwort liegt im Safe.", "Das Passwort liegt nicht im Safe.", "UPDATE"),
    ("El mercado está abierto.", "El mercado está cerrado.", "UPDATE"),
    ("Mi hermano vive en Vigo.", "Mi hermano vive en Lugo.", "UPDATE"),
    ("No como carne.", "No como pescado.", "ADD"),
    ("La porte est ouverte.", "La porte n'est pas ouverte.", "UPDATE"),
    ("我的猫叫咪咪。", "我的猫叫花花。", "UPDATE"),
    ("门是开的。", "门不是开的。", "UPDATE"),
    ("Мой кот зовут Барсик.", "Я не ем рыбу.", "ADD"),
    ("Il negozio è aperto.", "Il negozio è chiuso.", "UPDATE"),
    ("Mi dirección es Calle Mayor 5.", "Por favor, olvida mi dirección.", "DELETE"),
    ("Meine Telefonnummer ist 555 0142.", "Bitte vergiss meine Telefonnummer.", "DELETE"),
    ("我的电话是5550142。", "请忘记我的电话。", "DELETE"),
    ("Mon adresse est 3 rue du Lac.", "Oublie mon adresse.", "DELETE"),
    ("Jenkins builds the images.", "GitLab builds the images.", "ADD"),
    ("I wake up at 6.", "I wake up at 7 these days.", "UPDATE"),
    ("The cat sleeps on the sofa.", "The dog sleeps on the sofa.", "ADD"),
    ("My manager is Tomas Lind.", "My manager is now Petra Holm.", "UPDATE"),
    ("The launch date is 2026-05-01.", "The launch date moved to 2026-06-01.", "UPDATE"),
    ("The launch is on 2026-05-01.", "The launch was moved to 2026-06-01.", "UPDATE"),
    ("My favourite book is Dune.", "My favourite book is Emma.", "UPDATE"),
]
UNLIKE = [(old, new, event) for old, new, event in STATEMENTS if event in {"UPDATE", "NONE"}]


def turn(content: str, minute: int) -> Turn:
    return Turn(
        turn_id=f"t{minute}",
        scope=Scope(project_id="p", user_id="u"),
        session_id=f"s{minute}",
        role="user",
        content=content,
        timestamp=START + timedelta(minutes=minute),
    )


def fact_of(content: str, minute: int) -> Fact:
    (fact,) = extract(turn(content, minute), (), record_id=f"r{minute}").facts
    return fact


def told_after(old: str, new: str, similarity: float) -> Decision:
    known = fact_of(old, 0)
    neighbour = Neighbour(
        id=1,
        text=known.text,
        similarity=similarity,
        event_time=known.event_time,
        subject=known.subject,
        attribute=known.attribute,
        value=known.value,
        polarity=known.polarity,
        mood=known.mood,
    )
    return decide(fact_of(new, 1), [neighbour], DecisionOptions(enable_delete_operations=True))


@pytest.mark.parametrize(("old", "new", "event"), STATEMENTS, ids=[f"{old} / {new}" for old, new, _ in STATEMENTS])
def test_the_second_statement_has_its_operation(old: str, new: str, event: str) -> None:
    assert told_after(old, new, LIKENESS).event == event


@pytest.mark.parametrize(("old", "new", "event"), UNLIKE, ids=[f"{old} / {new}" for old, new, _ in UNLIKE])
def test_it_never_deletes_or_replaces_something_unlike_and_unnamed(old: str, new: str, event: str) -> None:
    assert told_after(old, new, 0.0).event in {event, "ADD"}
