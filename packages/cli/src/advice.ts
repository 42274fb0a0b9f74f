/** What to do about an error of the service, by its code and status. */
import type { ServiceError } from 'governed-data-client'
import { Failure } from './failure.ts'

/** The service and workspace of a call, and the kind of its credential. */
export type Target = {
  readonly url: string
  readonly workspace: string
  /** What a call for this environment has beside its name, such as ` --env staging`. */
  readonly flags: string
  readonly credential: 'token' | 'key' | 'session' | 'none'
}

export function explain(error: ServiceError, target: Target): Failure {
  const help = byCode[error.code ?? '']?.(target) ?? byStatus[error.status]?.(target) ?? others(error)
  const message = error.status === 0 ? unanswered(error, target) : error.message
  return new Failure(message, { cause: error, ...(help !== undefined && { help }) })
}

function unanswered(error: ServiceError, { url }: Target): string {
  if (error.code === 'timeout') return `${url} has not answered in time`
  // Node names the fault below: refused, unknown host, a certificate.
  const { cause } = error
  const below = cause instanceof Error && cause.cause instanceof Error ? cause.cause : undefined
  const code = (below as { readonly code?: string } | undefined)?.code
  return `${url} does not answer: ${code ?? below?.message ?? error.message}`
}

const byCode: Readonly<Record<string, (target: Target) => string>> = {
  network: ({ flags }) => `is the service running, and is its address right? governed doctor${flags} looks at both`,
  timeout: ({ flags }) => `try again, or see governed doctor${flags}`,
  '4094': ({ flags }) => `somebody changed it meanwhile; see governed schema diff${flags}, or --dry-run of a migration`,
  '4095': ({ workspace }) =>
    `a migration of this source broke off: POST /api/${workspace}/schema/introspect/<id of the source>`,
  '4097': () => 'say --allow failingTests where they are meant to fail',
  '4222': () => 'say --allow drop where this is meant to be lost',
}

const byStatus: Readonly<Record<number, (target: Target) => string>> = {
  401: ({ credential, flags }) =>
    credential === 'token'
      ? 'GOVERNED_TOKEN takes an API key or an access token that is still good'
      : `sign in: governed login${flags}`,
  403: ({ credential, workspace, flags }) =>
    credential === 'none'
      ? `sign in: governed login${flags}`
      : `an administrator of the workspace ${workspace} can give the right`,
  404: ({ workspace }) => `is there a workspace ${workspace}? Whoever is no member of one is told that there is none`,
  413: () =>
    'whoever runs the service can allow more; a model file is shorter without ids: governed schema pull --no-ids',
  429: () => 'too many attempts: wait for some minutes',
}

function others({ status, requestId }: ServiceError): string | undefined {
  return status >= 500 && requestId !== undefined
    ? `whoever runs the service finds it in the log as ${requestId}`
    : undefined
}
