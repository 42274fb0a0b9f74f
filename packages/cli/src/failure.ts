/** What a command ends with where it cannot be done: a message, what to do about it, and the exit code. */
import { ServiceError } from 'governed-data-client'

/** Of all commands; `differs` is the answer of those that compare. */
export const exitCodes = { done: 0, failed: 1, differs: 2, wrongCall: 64 } as const

type FailureOptions = { readonly help?: string; readonly cause?: unknown; readonly exitCode?: number }

export class Failure extends Error {
  override readonly name = 'Failure'
  readonly help: string | undefined
  readonly exitCode: number

  constructor(message: string, { help, cause, exitCode = exitCodes.failed }: FailureOptions = {}) {
    super(message, { cause })
    this.help = help
    this.exitCode = exitCode
  }
}

/** For a call that is wrong as it was written; `help` shows the right one. */
export const wrongCall = (message: string, help?: string) =>
  new Failure(message, { exitCode: exitCodes.wrongCall, ...(help !== undefined && { help }) })

/** As the service writes errors, with what to do beside it. */
export type ErrorDocument = {
  readonly message: string
  readonly code?: string
  readonly meta?: unknown
  readonly requestId?: string
  readonly source?: ErrorDocument
  readonly help?: string
}

export function errorDocument({ message, help, exitCode, cause }: Failure): ErrorDocument {
  const advice = help === undefined ? {} : { help }
  if (cause instanceof ServiceError) {
    return { ...nested(cause.messages, cause), message: cause.messages.join(': '), ...advice }
  }
  return { message, ...(exitCode === exitCodes.wrongCall && { code: 'usage' }), ...advice }
}

function nested([message = '', ...others]: readonly string[], error: ServiceError): ErrorDocument {
  if (others.length > 0) return { message, source: nested(others, error) }
  const { code, meta, requestId } = error
  return {
    message,
    ...(code !== undefined && { code }),
    ...(meta !== undefined && { meta }),
    ...(requestId !== undefined && error.status >= 500 && { requestId }),
  }
}
