/**
 * One line per variable, for docs/configuration.md. Not in src/config.ts, where they would add to every Worker's start.
 */
import type { VariableName } from '../src/config.ts'

export const variableMeanings: Readonly<Record<VariableName, string>> = {
  PORT: 'Port to listen on (local run and Node)',
  SERVICE_HOST: 'Address to listen on (local run and Node)',
  SERVICE_BASE_URL:
    'Public address; links in mails begin with it, and it is sent on license activation. Where unset, the address of the request (in mails only if that is this machine)',
  SERVICE_HTTP__TRUSTED_PROXIES:
    'Networks of the proxies before the service, such as `10.0.0.0/8,2001:db8::/32`: of requests from there, `X-Forwarded-For` or `Forwarded` says the address of the caller. Nobody else is believed',
  SERVICE_DATABASE_URL:
    'System database. Workers use the Neon HTTP driver, Node any PostgreSQL over TCP. Embedded where unset',
  SERVICE_DATA_DIR: 'Embedded database and generated secrets',
  SERVICE_SECRET:
    'Encrypts configuration and secrets at rest, 32 bytes or more. Several may be given with commas between: the first encrypts, all decrypt, and `npm run secrets:rotate` encrypts everything with the first. Generated into the data directory locally, required when deployed',
  SERVICE_AUTH__SIGNING_KEY:
    'Ed25519 private JWK that signs tokens, or a JSON list whose first one does and whose others, of which the public half is enough, only verify. Generated at installation and kept encrypted where unset; a generated key goes on verifying beside a given one',
  SERVICE_AUTH__REDIRECT_ORIGINS:
    'Origins besides our own that a sign-in through a provider may return to, with commas between them',
  SERVICE_AUTH__ALLOW_PRIVATE_PROVIDERS:
    'Whether a sign-in provider may be at a private or loopback address, the latter without TLS; the local run allows it',
  SERVICE_ACCESS_TOKEN_TTL: 'Lifetime of access tokens',
  SERVICE_REFRESH_TOKEN_TTL: 'Lifetime of refresh tokens',
  SERVICE_AUTH__LOGINS_PER_MINUTE:
    'Most sign-ins and resets from one address, links to files that it makes without a credential, and password changes of one session, in a minute; over that 429',
  SERVICE_AUTH__LOGINS_AT_ONCE:
    'Most sign-ins from one address, and password changes of one user, whose password is being compared or waits for that; over that 429',
  SERVICE_ADMIN__EMAIL: 'First administrator, created on an empty system database',
  SERVICE_ADMIN__PASSWORD: 'Password of the first administrator',
  SERVICE_SETUP_TOKEN: 'Asked for by bootstrap; a deployed instance needs one',
  SERVICE_MAIL__URL:
    '`smtp://user:password@host:587` or `smtps://` (Node), or `https://:token@host/path`, which gets `{from, to, subject, text}` posted as JSON. `log:` prints mails with their secrets (the local run does). No mail is sent where unset',
  SERVICE_MAIL__FROM:
    'Sender of mails, such as `Data service <data@example.com>`. `no-reply@` the host of `SERVICE_BASE_URL` where unset',
  SERVICE_INVITATION_URL:
    "Page of yours that mails of invitations lead to, with the token in the place of `{token}`, such as `https://app.example.com/join#{token}`. The console's own where unset",
  SERVICE_RESET_URL: 'The same of mails that reset a password',
  SERVICE_AUDIT__RETENTION: 'How long entries of the audit log are kept',
  SERVICE_HISTORY__RETENTION: 'How long the history of items is kept',
  SERVICE_ASSISTANT__RETENTION: 'How long a conversation with the assistant is kept after its last answer',
  SERVICE_CLUSTER__SHUTDOWN_DRAIN_DELAY: 'How long requests are still served after readiness has begun to fail (Node)',
  SERVICE_TELEMETRY__ENABLED: 'Whether anonymous telemetry is posted, once a day',
  SERVICE_TELEMETRY__URL:
    'Where telemetry is posted; nothing is sent where it is unset. `docs/operations.md` shows all of it',
  SERVICE_INSTANCE_OWNER_SYNC_ENABLED:
    "Whether the owner's details may be sent to the licensing service; this release never sends any",
  SERVICE_CORS__ENABLED: 'Whether pages of other origins may read answers',
  SERVICE_CORS__ORIGIN: 'The origins that may, with commas between; `*` lets all of them, but never with cookies',
  SERVICE_METRICS__ENABLED:
    'Whether `/metrics` tells Prometheus about this process, to everybody who can reach it (Node)',
  SERVICE_DEMO: 'Whether the local run loads the workspace `demo`',
  SERVICE_SOURCES__CACHE_TTL:
    'How long reads from data connectors are kept; `0` keeps none. `Cache-Control: no-cache` asks anew',
  SERVICE_QUERY_LIMIT_DEFAULT: 'Page size of item reads that name none',
  SERVICE_QUERY_LIMIT_MAX: 'Largest page size of item reads',
  SERVICE_QUERY__MAX_ROWS:
    'Most rows that one read may bring: the limits along each path of relations multiplied, and all paths together; beyond that 422 with code 4014',
  SERVICE_QUERY__TIMEOUT:
    'How long a statement that a caller waits for may take, from its call, before the database ends it; `0` sets no limit. Also for each question about a catalog, which then has 30 s',
  SERVICE_LOG__SLOW:
    'Requests that take longer have a line of kind `slow` in the log, with their route and the time of the database; 0 for none',
  SERVICE_IDEMPOTENCY__TTL: 'How long the key of a write is kept, and with it the answer that a retry gets',
  SERVICE_ITEMS__CREATE_LIMIT: 'Most items in one POST',
  SERVICE_SCHEMA__BODY_LIMIT: 'Largest body of a migration or with a model file',
  SERVICE_SCHEMA__DRIFT_INTERVAL:
    'Time between two looks at the schemas of databases, for changes made outside of the service: at least 1m, or 0 for none. Workers look when their cron runs, too',
  SERVICE_ITEMS__BODY_LIMIT: 'Largest body of an item request',
  SERVICE_SOURCES__ALLOW_PRIVATE_HOSTS:
    'Whether a data source may be at a loopback, private or link-local address. The local run allows it',
  SERVICE_SOURCES__AWS_ROLES:
    'Roles of AWS that data sources without keys of their own may use, as a JSON list of `{"roleArn", "externalId"?, "workspaces"?}`; without `workspaces` all of them may. They are assumed under the AWS keys of this process, which nobody uses without a role',
  SERVICE_SOURCES__HYPERDRIVES:
    'Hyperdrive bindings that data sources may name, as a JSON list of `{"binding", "workspaces"?}`; without `workspaces` all of them may (Workers)',
  SERVICE_FILES__STORE:
    'Where the bytes of files are: `folder` (Node), `s3`, `r2` (Workers, the binding `FILES`) or `database`, for files of at most 10 MiB. Where unset, a folder on Node; on Workers the binding where there is one, else the database',
  SERVICE_FILES__PATH:
    'Folder with the bytes of files; `files` below `SERVICE_DATA_DIR` where unset (Node and local run)',
  SERVICE_FILES__S3__ENDPOINT:
    'Address of an S3 service, such as `https://s3.eu-central-1.amazonaws.com`; the name of the bucket becomes part of the path',
  SERVICE_FILES__S3__BUCKET: 'Bucket with the bytes of files, for nothing else and without public access',
  SERVICE_FILES__S3__REGION: 'Region that requests are signed for; `auto` for R2',
  SERVICE_FILES__S3__ACCESS_KEY_ID: 'Key that may list the bucket, and read, write and delete its objects',
  SERVICE_FILES__S3__SECRET_ACCESS_KEY: 'Secret of that key',
  SERVICE_FILES__MAX_SIZE: 'Most bytes of a file; over that 413',
  SERVICE_FILES__QUOTA:
    'Most bytes of all files of a workspace, with those that were deleted and are kept, and with uploads in parts; over that 422. No limit where unset',
  SERVICE_FILES__TYPES:
    'Media types that files may have, such as `image/*,application/pdf`, by what is in them. All where unset',
  SERVICE_FILES__DELETE_AFTER: 'How long the bytes of a deleted file stay, so that it can be restored',
  SERVICE_FILES__UPLOAD_TTL: 'How long an upload in parts may take before it is removed',
  SERVICE_FILES__CLEAN_INTERVAL:
    'How often bytes that nothing needs any more are looked for; `0` never. On Workers not more often than the cron runs',
  SERVICE_EXTENSIONS__PATH:
    'Folder of the installed extensions, read at the start (Node) and by `npm run extensions:bundle` (Workers)',
  SERVICE_EXTENSIONS__AUTO_RELOAD: 'Whether a changed extension is loaded again without a restart (Node)',
  SERVICE_EXTENSIONS__TIME_LIMIT: 'Longest time for one call of a connector',
  SERVICE_EXTENSIONS__CPU_LIMIT:
    'Longest time that the code of a connector may keep its thread busy; after that its isolate is ended',
  SERVICE_EXTENSIONS__MEMORY_LIMIT:
    'MiB of the JavaScript heap of a connector (Node; on Workers the platform sets the limit)',
  SERVICE_EXTENSIONS__IDLE_TIME: 'Time without a call after which the process of a connector is ended (Node)',
  SERVICE_EXTENSIONS__MAX_PROCESSES:
    'Most processes of connectors at a time, some 60 MB each (Node). Beyond that idle ones are ended, then requests wait up to 10 s, then 503',
  SERVICE_EXTENSIONS__MAX_PROCESSES_PER_WORKSPACE: 'The same for the sources of one workspace (Node)',
  SERVICE_LICENSE__KEY: 'License key, activated at the licensing service',
  SERVICE_LICENSE__TOKEN: 'Offline license: the document itself, never asked about anywhere',
  SERVICE_LICENSE__URL: 'Address of the licensing service; needed with a key',
  SERVICE_LICENSE__PUBLIC_KEY:
    'Ed25519 public JWK of the licensing service, which verifies licenses; needed with a key or a token',
}
