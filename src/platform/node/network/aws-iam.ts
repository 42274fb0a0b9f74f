/**
 * Passwords of managed databases with IAM authentication: a presigned request serves as short-lived token, created for
 * each connection, with the keys of the configuration or the process, or of a role assumed with them.
 */

import { AwsClient, AwsV4Signer } from 'aws4fetch'
import { parseJson } from '../../../core/exact-json.ts'
import type { SqlAddress } from '../../../core/sql/address.ts'
import type { AwsRole } from '../../../core/sql/aws-role.ts'
import { SqlFault } from '../../../core/sql/fault.ts'
import { type Fetch, limitedFetch, readBounded } from '../../fetch.ts'
import { PrivateHostError } from '../../private-hosts.ts'

export type Keys = { readonly id: string; readonly secret: string; readonly session: string | undefined }

export type IamOptions = {
  readonly fetch: Fetch
  /** Holds the keys; to assume roles, also AWS_ENDPOINT_URL_STS. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Roles that may be assumed with the keys of the environment. */
  readonly awsRoles?: readonly AwsRole[]
  /** Milliseconds that STS may take; by default 10 s. */
  readonly timeLimit?: number
}

const TIME_LIMIT = 10_000
/** Bytes; more than any valid answer of STS has. */
const MAX_BODY = 64 * 1024

/** Returns the password for a driver; a function is called for each connection. */
export function databasePassword(address: SqlAddress, options: IamOptions): string | (() => Promise<string>) {
  const { auth } = address
  if (auth.kind === 'password') return auth.password
  let assumed: { readonly keys: Keys; readonly until: number } | undefined
  return async () => {
    const own: Keys =
      auth.keys === undefined ? environmentKeys(options.environment) : { ...auth.keys, session: undefined }
    const role = options.awsRoles?.find(({ roleArn }) => roleArn === auth.roleArn)
    if (auth.keys === undefined && role === undefined)
      throw refused('the role is not one of SERVICE_SOURCES__AWS_ROLES')
    const externalId = auth.keys === undefined ? role?.externalId : undefined
    if (auth.roleArn === undefined) return iamToken(address, auth.region, { keys: own })
    if (assumed === undefined || assumed.until - RENEW_BEFORE < Date.now()) {
      assumed = await assumeRole(auth.roleArn, { ...options, region: auth.region, keys: own, externalId })
    }
    return iamToken(address, auth.region, { keys: assumed.keys })
  }
}

/** Milliseconds before the keys expire at which the role is assumed again. */
const RENEW_BEFORE = 300_000

function environmentKeys(environment: IamOptions['environment']): Keys {
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: session } = environment
  if (!id || !secret) throw refused('AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set')
  return { id, secret, session }
}

/** The token is the URL of a presigned request without its scheme; the server accepts it for 15 minutes. */
export async function iamToken(
  { host, port, user }: Pick<SqlAddress, 'host' | 'port' | 'user'>,
  region: string,
  { keys, datetime }: { readonly keys: Keys; readonly datetime?: string },
): Promise<string> {
  const url = new URL(`https://${host}:${port}/`)
  url.searchParams.set('Action', 'connect')
  url.searchParams.set('DBUser', user)
  url.searchParams.set('X-Amz-Expires', '900')
  const signer = new AwsV4Signer({
    url: url.href,
    method: 'GET',
    service: 'rds-db',
    region,
    signQuery: true,
    accessKeyId: keys.id,
    secretAccessKey: keys.secret,
    ...(keys.session !== undefined && { sessionToken: keys.session }),
    ...(datetime !== undefined && { datetime }),
  })
  const signed = await signer.sign()
  return signed.url.href.replace(/^https:\/\//, '')
}

type AssumeOptions = IamOptions & {
  readonly region: string
  readonly keys: Keys
  readonly externalId: string | undefined
}

async function assumeRole(roleArn: string, options: AssumeOptions) {
  const { fetch: wayOut, environment, timeLimit = TIME_LIMIT, region, keys, externalId } = options
  const china = region.startsWith('cn-') ? '.cn' : ''
  const endpoint = environment.AWS_ENDPOINT_URL_STS || `https://sts.${region}.amazonaws.com${china}/`
  const client = new AwsClient({
    accessKeyId: keys.id,
    secretAccessKey: keys.secret,
    ...(keys.session !== undefined && { sessionToken: keys.session }),
    service: 'sts',
    region,
  })
  const question = {
    Action: 'AssumeRole',
    Version: '2011-06-15',
    RoleArn: roleArn,
    RoleSessionName: 'data-service',
    ...(externalId !== undefined && { ExternalId: externalId }),
  }
  const body = new URLSearchParams(question).toString()
  const { url, method, headers } = await client.sign(endpoint, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'application/json' },
    body,
  })
  const late = (cause: unknown) => {
    if (cause instanceof PrivateHostError) throw cause
    throw refused('the role cannot be assumed: STS did not answer', cause)
  }
  const response = await limitedFetch(url, { method, headers, body }, { timeLimit, wayOut }).catch(late)
  if (!response.ok) throw refused(`the role cannot be assumed: status ${response.status}`)
  const answer = await readBounded(response, MAX_BODY).catch(late)
  return readCredentials(answer === undefined ? {} : (parseJson(await answer.text()) as Answer))
}

type Answer = {
  readonly AssumeRoleResponse?: {
    readonly AssumeRoleResult?: {
      readonly Credentials?: {
        readonly AccessKeyId: string
        readonly SecretAccessKey: string
        readonly SessionToken: string
        /** In seconds since the epoch. */
        readonly Expiration: number
      }
    }
  }
}

function readCredentials(answer: Answer): { readonly keys: Keys; readonly until: number } {
  const credentials = answer.AssumeRoleResponse?.AssumeRoleResult?.Credentials
  if (credentials === undefined) throw refused('the role cannot be assumed: the answer has no credentials')
  const { AccessKeyId: id, SecretAccessKey: secret, SessionToken: session, Expiration } = credentials
  return { keys: { id, secret, session }, until: Number(Expiration) * 1_000 }
}

/** Without a token the database would refuse the account. */
function refused(message: string, cause?: unknown): SqlFault {
  return new SqlFault(message, { state: '28000', cause })
}
