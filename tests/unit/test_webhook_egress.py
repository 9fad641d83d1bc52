"""Which addresses and URLs a webhook may go to."""

import pytest

from webhooks.egress import Refused, check_url, is_public

PUBLIC = ["93.184.216.34", "1.1.1.1", "2606:4700::1111", "64:ff9b::5db8:d822", "::ffff:93.184.216.34"]
PRIVATE = [
    "127.0.0.1",
    "127.255.255.254",
    "0.0.0.0",
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "169.254.169.254",
    "169.254.0.1",
    "100.64.0.1",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.1",
    "192.0.0.170",
    "192.0.2.1",
    "192.88.99.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "::ffff:0:127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::7f00:1",
    "100::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:a9fe:a9fe::1",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
    "not-an-address",
    "",
]


@pytest.mark.parametrize("address", PUBLIC)
def test_is_public__address_of_the_internet__is(address):
    assert is_public(address)


@pytest.mark.parametrize("address", PRIVATE)
def test_is_public__any_other__is_not(address):
    assert not is_public(address)


@pytest.mark.parametrize(
    "url",
    [
        "https://hooks.example.com",
        "https://hooks.example.com/a/b?c=d%20e",
        "https://hooks.example.com:8443/",
        "https://93.184.216.34/",
        "https://[2606:4700::1111]/",
        "https://xn--bcher-kva.example/hook",
        "HTTPS://Hooks.Example.com/",
    ],
)
def test_check_url__of_the_internet__is_fine(url):
    check_url(url, allow_private=False)


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://hooks.example.com/", "wrong_scheme"),
        ("ftp://hooks.example.com/", "wrong_scheme"),
        ("file:///etc/passwd", "not_a_url"),
        ("hooks.example.com", "not_a_url"),
        ("", "not_a_url"),
        ("https://", "not_a_url"),
        ("https:///path", "not_a_url"),
        ("https://user@hooks.example.com/", "has_credentials"),
        ("https://user:password@hooks.example.com/", "has_credentials"),
        ("https://hooks.example.com@127.0.0.1/", "has_credentials"),
        ("https://hooks.example.com/#part", "has_fragment"),
        ("https://hooks.example.com:0/", "not_a_url"),
        ("https://hooks.example.com:99999/", "not_a_url"),
        ("https://hooks.example.com:25/", "wrong_port"),
        ("https://hooks.example.com\\@127.0.0.1/", "not_a_url"),
        ("https://hooks.example.com/ a", "not_a_url"),
        ("https://hooks.example.com/\r\nHost: x", "not_a_url"),
        ("https://①②⑦.⓪.⓪.①/", "not_a_url"),
        ("https://bücher.example/", "not_a_url"),
        ("https://hooks.example.com/" + "a" * 2048, "too_long"),
        ("https://127.0.0.1/", "private_address"),
        ("https://127.0.0.1./", "private_address"),
        ("https://127.1/", "private_address"),
        ("https://2130706433/", "private_address"),
        ("https://0x7f.1/", "private_address"),
        ("https://0x7f000001/", "private_address"),
        ("https://0177.0.0.1/", "private_address"),
        ("https://017700000001/", "private_address"),
        ("https://0/", "private_address"),
        ("https://169.254.169.254/latest/meta-data/", "private_address"),
        ("https://[::1]/", "private_address"),
        ("https://[::ffff:127.0.0.1]/", "private_address"),
        ("https://[::ffff:7f00:1]/", "private_address"),
        ("https://[64:ff9b::7f00:1]/", "private_address"),
        ("https://localhost/", "local_name"),
        ("https://localhost./", "local_name"),
        ("https://LOCALHOST/", "local_name"),
        ("https://db/", "local_name"),
        ("https://printer.local/", "local_name"),
        ("https://metadata.google.internal/", "local_name"),
    ],
)
def test_check_url__not_of_the_internet__is_refused(url, code):
    with pytest.raises(Refused) as caught:
        check_url(url, allow_private=False)

    assert caught.value.code == code


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:9000/hook", "http://localhost/", "https://10.0.0.1:25/", "http://db/"]
)
def test_check_url__private_allowed__is_fine(url):
    check_url(url, allow_private=True)


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/", "http://u:p@127.0.0.1/", "http://", "http://127.0.0.1/#a"])
def test_check_url__private_allowed__is_still_a_url(url):
    with pytest.raises(Refused):
        check_url(url, allow_private=True)
