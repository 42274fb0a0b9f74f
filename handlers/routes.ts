/**
 * One path, its methods, and what happens around each handler: a request id, the credential, the answer to an error, a
 * line in the log. There is no other middleware, so that the router has one handler to call.
 */
import type { Hono } from 'hono'
import { ServiceError } from '../src/core/error.ts'
import type { Ports } from '../src/ports.ts'
import type { Visit } from '../src/services/mails.ts'
import { credentialOf, loggable } from './authenticate.ts'
import type { AppContext, Variables } from './context.ts'
import type { Cors } from './cors.ts'
import { type Answer, failure, isFault, toResponse } from './respond.ts'
import { serverTiming, startTiming } from './timing.ts'

export type App = {
  readonly hono: Hono<{ Variables: Variables }>
  readonly ports: Ports
  /** Undefined where CORS is off. */
  readonly cors: Cors | undefined
  /** Where a request comes from, as far as the front door knows. */
  readonly addressOf: (c: AppContext) => string | undefined
  /** What comes before every handler, also before the answer that a method is not known. */
  readonly before?: () => Promise<void> | undefined
}

/** What use cases that write mails or tell addresses apart have to know of a request. */
export function visitOf({ addressOf }: App, c: AppContext): Visit {
  return { address: addressOf(c), origin: new URL(c.req.url).origin }
}

export type Handler = (c: AppContext) => Promise<Answer> | Answer
export type Methods = { readonly [Method in 'GET' | 'POST' | 'PATCH' | 'DELETE']?: Handler }

/** Other methods than those given are refused with 405 and `Allow`. */
export function mount(app: App, path: string, methods: Methods): void {
  const { hono, before } = app
  const allow = Object.keys(methods).flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  const refuse: Handler = () => {
    throw new ServiceError('methodNotAllowed', `This address knows ${allow.join(', ')}`, {
      meta: { allow: allow.join(', ') },
    })
  }
  const byMethod = new Map<string, Handler | undefined>(Object.entries({ ...methods, HEAD: methods.GET }))
  const handlerOf = (c: AppContext) => byMethod.get(c.req.method) ?? refuse
  if (before === undefined) {
    hono.all(path, (c) => respond(app, c, handlerOf(c)))
    return
  }
  const guarded: Handler = (c) => {
    const waiting = before()
    return waiting === undefined ? handlerOf(c)(c) : waiting.then(() => handlerOf(c)(c))
  }
  hono.all(path, (c) => respond(app, c, guarded))
}

/** Runs `handler` for a request. */
export async function respond({ ports, cors }: App, c: AppContext, handler: Handler): Promise<Response> {
  const { clock, ids, observe } = ports
  const requestId = ids.next()
  const start = clock.now()
  const timing = startTiming()
  c.set('timing', timing)
  const answer = cors?.preflight(c) ?? (await answerOf(ports, c, { requestId, handler }))
  observe({
    kind: 'request',
    requestId,
    method: c.req.method,
    path: loggable(c.req.url),
    status: answer.status,
    milliseconds: clock.now() - start,
  })
  return toResponse(answer, { requestId, timing: serverTiming(timing), cors: cors?.headersFor(c) })
}

type Run = { readonly requestId: string; readonly handler: Handler }

async function answerOf({ observe }: Ports, c: AppContext, { requestId, handler }: Run): Promise<Answer> {
  try {
    c.set('credential', credentialOf(c))
    return await handler(c)
  } catch (error) {
    if (isFault(error)) observe({ kind: 'fault', requestId, error })
    return failure(error)
  }
}
