/* Secrets that must not leak, and text that must stay readable. */
#include "tests.h"

#include "redact.h"

#include <time.h>

/* The redacted form of @p text, NUL terminated, in a buffer that is used again. */
static const char *redacted(const char *text)
{
    static char out[1 << 16];
    uint32_t length = (uint32_t)strlen(text);
    ck_assert_uint_lt(PA_REDACTED_BYTES(length), sizeof(out));
    uint32_t written = pa_redact(text, length, out, PA_REDACTED_BYTES(length));
    ck_assert_uint_le(written, PA_REDACTED_BYTES(length));
    out[written] = '\0';
    return out;
}

/* Text, and what is printed of it. */
static const struct {
    const char *text, *shown;
} named[] = {
    {"password=hunter2", "password=<redacted>"},
    {"password = hunter2", "password = <redacted>"},
    {"password: hunter2", "password: <redacted>"},
    {"password:hunter2", "password:<redacted>"},
    {"PASSWORD=hunter2", "PASSWORD=<redacted>"},
    {"passwd=x pwd=y", "passwd=<redacted> pwd=<redacted>"},
    {"db_password='hunter2'", "db_password='<redacted>'"},
    {"dbPassword=\"hunter2\"", "dbPassword=\"<redacted>\""},
    {"password='it\\'s, really'", "password='<redacted>'"},
    {"password=b'hunter2'", "password=b'<redacted>'"},
    {"password: str = 'hunter2'", "password: <redacted> = '<redacted>'"},
    {"assert password == 'hunter2'", "assert password == '<redacted>'"},
    {"{\"password\": \"hunter2\", \"user\": \"bob\"}", "{\"password\": \"<redacted>\", \"user\": \"bob\"}"},
    {"{'password': 'hunter2'}", "{'password': '<redacted>'}"},
    {"{\\\"password\\\": \\\"hunter2\\\", \\\"a\\\": 1}", "{\\\"password\\\": \\\"<redacted>\\\", \\\"a\\\": 1}"},
    {"os.environ['DB_PASSWORD'] = 'hunter2'", "os.environ['DB_PASSWORD'] = '<redacted>'"},
    {"login(user='bob', password='hunter2')", "login(user='bob', password='<redacted>')"},
    {"login(user=bob, password=hunter2)", "login(user=bob, password=<redacted>)"},
    {"Server=db;Password=a;b;c;Database=x", "Server=db;Password=<redacted>;Database=x"},
    {"password=p&ss,w)rd", "password=<redacted>"},
    {"token=abc", "token=<redacted>"},
    {"access_token=abc&page=2", "access_token=<redacted>&page=2"},
    {"https://h.example/p?token=abc&page=2#top", "https://h.example/p?token=<redacted>&page=2#top"},
    {"authToken: 'abc'", "authToken: '<redacted>'"},
    {"tokens=['abc', 'd]f']", "tokens=<redacted>"},
    {"secret=42", "secret=<redacted>"},
    {"client_secret=abc", "client_secret=<redacted>"},
    {"api_key=abc apikey=abc api-key=abc apiKey=abc APIKey=abc",
     "api_key=<redacted> apikey=<redacted> api-key=<redacted> apiKey=<redacted> APIKey=<redacted>"},
    {"key=abc", "key=<redacted>"},
    {"X-Api-Key: abc", "X-Api-Key: <redacted>"},
    {"private_key: abc", "private_key: <redacted>"},
    {"auth=('bob', 'hunter2')", "auth=<redacted>"},
    {"session=deadbeef", "session=<redacted>"},
    {"PHPSESSID=abc; path=/", "PHPSESSID=<redacted>; path=/"},
    {"credentials={'user': 'bob', 'pin': [1, {'a': '}'}]} next", "credentials=<redacted> next"},
    {"pin=1234", "pin=<redacted>"},
    {"Authorization: Bearer abc.def", "Authorization: <redacted>"},
    {"Authorization: Digest username=\"bob\", response=\"abc\"\nHost: h", "Authorization: <redacted>\nHost: h"},
    {"b'GET / HTTP/1.1\\r\\nAuthorization: Basic Ym9i\\r\\nHost: h\\r\\n'",
     "b'GET / HTTP/1.1\\r\\nAuthorization: <redacted>\\r\\nHost: h\\r\\n'"},
    {"curl -H 'Cookie: a=b; c=\"d e\"' http://h/", "curl -H 'Cookie: <redacted>' http://h/"},
    {"Set-Cookie: id=abc; Path=/; HttpOnly", "Set-Cookie: <redacted>"},
    {"[(b'authorization', b'Bearer abc'), (b'host', b'h')]", "[(b'authorization', b'<redacted>'), (b'host', b'h')]"},
    {"passphrase: correct horse battery staple", "passphrase: <redacted>"},
    {"worker --password hunter2 --verbose", "worker --password <redacted> --verbose"},
    {"worker --password=hunter2 --verbose", "worker --password=<redacted> --verbose"},
    {"['worker', '--api-key', 'abc', '--verbose']", "['worker', '--api-key', '<redacted>', '--verbose']"},
    {"['worker', '--api-key=abc', '--verbose']", "['worker', '--api-key=<redacted>', '--verbose']"},
    {"token='cut in the mid", "token='<redacted>"},
    {"token={'cut': 'in", "token=<redacted>"},
    {"senha: x password:\tx", "senha: x password:\t<redacted>"},
    {"fetch(\xc3\xa9, password=\xc3\xa9\xe2\x82\xac)", "fetch(\xc3\xa9, password=<redacted>)"},
};

START_TEST(test_value_under_a_telling_name_is_hidden)
{
    ck_assert_str_eq(redacted(named[_i].text), named[_i].shown);
}
END_TEST

static const struct {
    const char *text, *shown;
} looks[] = {
    {"https://bob:hunter2@h.example/path", "https://<redacted>@h.example/path"},
    {"postgres://bob:p@ss@db:5432/x", "postgres://<redacted>@db:5432/x"},
    {"postgresql+asyncpg://bob:p/w#1@db/x", "postgresql+asyncpg://<redacted>@db/x"},
    {"redis://:hunter2@cache:6379/0", "redis://<redacted>@cache:6379/0"},
    {"url='https://ghp_abc@github.com/a/b.git'", "url='https://<redacted>@github.com/a/b.git'"},
    {"http://a:b@c, http://d:e@f", "http://<redacted>@c, http://<redacted>@f"},
    {"sent Bearer abcDEF123 to h", "sent Bearer <redacted> to h"},
    {"'Basic Ym9iOmh1bnRlcjI='", "'Basic <redacted>'"},
    {"jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl end", "jwt <redacted> end"},
    {"eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.", "<redacted>"},
    {"pem -----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY----- end", "pem <redacted> end"},
    {"'-----BEGIN PRIVATE KEY-----\\nMIIE", "'<redacted>"},
    {"\\n-----BEGIN CERTIFICATE-----\\nMIIE\\n-----END CERTIFICATE-----\\n'", "\\n<redacted>\\n'"},
    {"wJalrXUtnFEMI/K7MDENG/bPxRfiCYzEXAMPLEKEY", "<redacted>"},
    {"id AKIAJ4XQ7ZKWTPBN3VHD here", "id <redacted> here"},
    {"sha1 da39a3ee5e6b4b0d3255bfef95601890afd80709", "sha1 <redacted>"},
    {"data=U29tZSBiYXNlNjQgdGV4dCB0aGF0IGlzIGxvbmc=", "data=<redacted>="},
    {"sk-proj-Zk3vQ9xT2mW8nL5pR7sB1cD4", "<redacted>"},
    {"JBSWY3DPEHPK3PXPJBSWY3DP", "<redacted>"},
    {"refresh-worker-for-tenant-number-twelve-d41d8cd98f00b204e9800998ecf8427e",
     "refresh-worker-for-tenant-number-twelve-<redacted>"},
    {"/var/lib/containers/storage/overlay/some/long/path/d41d8cd98f00b204e9800998ecf8427e/x",
     "/var/lib/containers/storage/overlay/some/long/path/<redacted>/x"},
};

START_TEST(test_value_that_looks_like_a_secret_is_hidden)
{
    ck_assert_str_eq(redacted(looks[_i].text), looks[_i].shown);
}
END_TEST

static const char *const readable[] = {
    "",
    "Task-12",
    "worker 3 of 16",
    "session-42",
    "session:42",
    "auth:refresh",
    "auth-worker",
    "token_refresher:7",
    "keyboard=us author=bob monkey: x",
    "primary_key=id sort_key='name' key=3",
    "KeyError: 'name'",
    "TokenExpiredError: at 12:30",
    "password is wrong",
    "Invalid password",
    "token_type=bearer token_url='/oauth/token' session_timeout=30 password_field='pw'",
    "token=None password='' secret=**** auth=True tokens=[]",
    "session=<aiohttp.client.ClientSession object at 0x7f3001360d70>",
    "auth::login at auth/views.py",
    "secretary=bob tokenizer='bpe'",
    "0x7f3001360d70",
    "12345678901234567890123456789",
    "2026-11-30T12:00:00.000000+00:00",
    "20261130T120000123456Z",
    "request 550e8400-e29b-41d4-a716-446655440000",
    "job-550E8400-E29B-41D4-A716-446655440000-retry",
    "/usr/lib/python3.14/site-packages/aiohttp/connector.py",
    "C:\\Users\\bob\\AppData\\Local\\Programs\\Python",
    "cpython-314-x86_64-linux-gnu",
    "concurrent.futures.thread.ThreadPoolExecutor",
    "test_http2_server_push_with_a_very_long_name_v3",
    "AbstractSingletonProxyFactoryBean2",
    "GetUserByIdAndNameOrEmail42",
    "--log-level=debug --workers 16 --bind 0.0.0.0:8080",
    "http://h.example:8080/path/@user?page=2&sort=name",
    "http://[::1]:8080/",
    "mail bob@example.com",
    "Basic authentication, the bearer of this, Bearer token",
    "aaaaaaaaaaaaaaaaaaaaaaaa1a1a1a1a1a1a1a1",
    "\xe5\xaf\x86\xe7\xa0\x81 \xed\xa0\x80 caf\xc3\xa9",
    "<script>alert(1)</script>",
};

START_TEST(test_ordinary_text_stays)
{
    ck_assert_str_eq(redacted(readable[_i]), readable[_i]);
}
END_TEST

static const struct {
    const char *name;
    enum pa_telling telling;
} names[] = {
    {"password", PA_TELLING},      {"db_password", PA_TELLING},    {"X-Api-Key", PA_TELLING},       {"authToken", PA_TELLING},
    {"accessKeyID", PA_TELLING},   {"JSESSIONID", PA_TELLING},     {"password2", PA_TELLING},       {"SECRET_KEY_BASE", PA_TELLING},
    {"key", PA_WEAKLY_TELLING},    {"session", PA_WEAKLY_TELLING}, {"auth", PA_WEAKLY_TELLING},     {"author", PA_NOT_TELLING},
    {"cache_key", PA_NOT_TELLING}, {"tokenizer", PA_NOT_TELLING},  {"token_count", PA_NOT_TELLING}, {"", PA_NOT_TELLING},
    {"monkey", PA_NOT_TELLING},    {"passenger", PA_NOT_TELLING},
};

START_TEST(test_names_are_read_word_by_word)
{
    ck_assert_int_eq(pa_telling_name(names[_i].name, (uint32_t)strlen(names[_i].name)), names[_i].telling);
}
END_TEST

/* Of random strings of each alphabet that keys are written in, nearly all are found, and of these lengths more the longer they are. */
START_TEST(test_random_strings_are_found)
{
    static const struct {
        const char *alphabet;
        uint32_t length, missed; /* at most, of 1,000 */
    } cases[] = {
        {"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", 20, 40},
        {"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", 32, 10},
        {"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 40, 5},
        {"0123456789abcdef", 24, 30},
        {"0123456789abcdef", 32, 10},
        {"0123456789abcdef", 64, 0},
        {"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 32, 10},
        {"abcdefghijklmnopqrstuvwxyz0123456789", 24, 5},
    };
    uint64_t random = 88172645463325252u; /* xorshift: the same strings in every run */
    uint32_t missed = 0;
    for (uint32_t n = 0; n < 1000; n++) {
        char text[65];
        for (uint32_t i = 0; i < cases[_i].length; i++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            text[i] = cases[_i].alphabet[(random >> 33) % strlen(cases[_i].alphabet)];
        }
        missed += !pa_is_random(text, cases[_i].length);
    }
    ck_assert_uint_le(missed, cases[_i].missed);
}
END_TEST

START_TEST(test_copy_is_cut_between_characters)
{
    static const char text[] = "\xf0\x9f\x90\x8dx password=1";
    char out[32];
    for (uint32_t capacity = 0; capacity < sizeof(out); capacity++) {
        memset(out, '#', sizeof(out));
        uint32_t written = pa_redact(text, sizeof(text) - 1, out, capacity);
        ck_assert_uint_le(written, capacity);
        ck_assert(written == 0 || written >= 4);
        ck_assert_uint_le(written, 25);
        ck_assert(memcmp(out, "\xf0\x9f\x90\x8dx password=<redacted>", written) == 0);
        for (uint32_t i = written; i < sizeof(out); i++)
            ck_assert_int_eq(out[i], '#');
    }
}
END_TEST

START_TEST(test_text_within_a_string_is_not_read_past_its_length)
{
    static const char text[] = "token='abc'";
    char out[64];
    for (uint32_t length = 0; length < sizeof(text) - 1; length++) {
        char *copy = malloc(length ? length : 1); /* the sanitizer sees a read behind it */
        memcpy(copy, text, length);
        pa_redact(copy, length, out, sizeof(out));
        free(copy);
    }
}
END_TEST

START_TEST(test_shortest_secrets_fit_the_promised_room)
{
    char text[3001] = "", out[PA_REDACTED_BYTES(3000)];
    for (int i = 0; i < 500; i++)
        memcpy(text + 6 * i, "pin=1 ", 6);
    uint32_t written = pa_redact(text, 3000, out, sizeof(out));
    ck_assert_uint_eq(written, 500 * 15);
}
END_TEST

/* Text made to be slow: a million characters of each must take well below a second (a quadratic search would take minutes). */
START_TEST(test_time_is_linear_on_hostile_text)
{
    static const char *const patterns[] = {
        "password",    "token=", "token=,",   "token='",   "x://u:pa",   "a://",       "-",
        "-----BEGIN ", "\\",     "token\\\\", "'token', ", "(",          "password=(", "Bearer ",
        "eyJ.",        "a.b/c-", "key:",      " token  ",  "basic a",    "token=\\'",  "0a1b-2c/",
        "token<a.",    "a=<a",   "-----END",  "aA0",       "token = = ", "550e8400-",  "\"a\\\"token\\\": "};
    uint32_t length = 1000000;
    char *text = malloc(length), *out = malloc(PA_REDACTED_BYTES(length));
    const char *pattern = patterns[_i];
    for (uint32_t i = 0; i < length; i++)
        text[i] = pattern[i % strlen(pattern)];
    clock_t begin = clock();
    pa_redact(text, length, out, PA_REDACTED_BYTES(length));
    ck_assert_double_lt((double)(clock() - begin) / CLOCKS_PER_SEC, 10.0);
    free(text);
    free(out);
}
END_TEST

Suite *redact_suite(void)
{
    Suite *suite = suite_create("redact");
    TCase *tests = add_case(suite, "redact");
    tcase_add_loop_test(tests, test_value_under_a_telling_name_is_hidden, 0, COUNT(named));
    tcase_add_loop_test(tests, test_value_that_looks_like_a_secret_is_hidden, 0, COUNT(looks));
    tcase_add_loop_test(tests, test_ordinary_text_stays, 0, COUNT(readable));
    tcase_add_loop_test(tests, test_names_are_read_word_by_word, 0, COUNT(names));
    tcase_add_loop_test(tests, test_random_strings_are_found, 0, 8);
    tcase_add_test(tests, test_copy_is_cut_between_characters);
    tcase_add_test(tests, test_text_within_a_string_is_not_read_past_its_length);
    tcase_add_test(tests, test_shortest_secrets_fit_the_promised_room);
    tcase_add_loop_test(tests, test_time_is_linear_on_hostile_text, 0, 28);
    return suite;
}
