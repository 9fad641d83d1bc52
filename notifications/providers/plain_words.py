"""Words with which vendors explain a refusal, and that say nothing about anybody: shown even where the message has them
too. Pure."""

from __future__ import annotations

_TEXT = """
a about above accept accepted access account accounts activate activated activation active activity add added address
addresses after again against all allow allowed already also an and another any api app application are argument as at
attempt authenticate authenticated authentication authorization authorized bad balance be because been before being
below billing block blocked body bounce bounced but by call can cannot carrier certificate change channel character
characters charge check client code codes com complete confirm connection contact contain contains content control could
country created credential credentials credit credits currently daily data date day days deactivated delete deleted
deliver delivered delivery denied destination device disabled does doesn domain domains due each either email emails
empty enable enabled encoding endpoint enough entity error errors exceed exceeded exceeds exist exists expired failed
failure feature field fields file find for forbidden form format found free from frozen get given grant had has have
header headers hour hours html http https identity if in inactive inbox insufficient internal into invalid ip is issue
it its json key keys landline large later least length less limit limited limits list locked logged login long look mail
mailbox mailgun make malformed many max maximum may message messages messaging method minimum minute minutes missing
mobile month monthly more most must name need needed needs network new no non not nothing number numbers object of off
on once one only operation operator or order other our out outside over paid param parameter parameters parse password
pattern pay payload payment per permission permissions permitted phone plain plan please policy post prefix problem
process processed project property provided provider public push quota quotas rate reach reached read reason received
recipient recipients refused region register registered reject rejected remove request requested requests require
required requires resource response restricted retry revoked route rule same sandbox schema scope second seconds
security see send sender senders sending sendgrid sent server service session set setting settings short should sid
signature size sms some source spam specified standard start status stop string subject subscription such support
supported suppressed suppression suspended system template temporarily temporary test text than that the their then
there these this those through time timeout title to token tokens too topic trial try twilio type unable unauthorized
unavailable undefined unknown unpaid unregistered unsubscribed unsupported until unverified upgrade url usage use used
user username users using valid validation value values verification verified verify version via vonage wait was webhook
were when where which while will with within without wrong you your
"""
PLAIN_WORDS = frozenset(_TEXT.split())
