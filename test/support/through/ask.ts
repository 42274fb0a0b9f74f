/** Sends a request by the client, in whatever runtime this runs, and holds what the client makes of the answer to the answer. */
import { createClient, type Result } from '../../../packages/client/src/index.ts'
import { messagesOf } from '../service/messages.ts'
import { type ItemsRequest, itemsCallOf } from './items-call.ts'

export type Answered = {
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string
  /** Whether it was asked by a call on items. */
  readonly isItems: boolean
  /** What the runtime calls itself. */
  readonly agent: string
}

type Answer = Pick<Answered, 'status' | 'headers' | 'body'>

export async function ask(request: ItemsRequest): Promise<Answered> {
  const [, workspace = ''] = /^\/api\/(\w+)\//.exec(request.path) ?? []
  const { options, headers } = optionsOf(request.headers)
  let answered: Answer | undefined
  const noting: typeof fetch = async (url, init) => {
    const response = await fetch(url, init)
    answered = { status: response.status, headers: [...response.headers], body: await response.clone().text() }
    return response
  }
  const db = createClient<object>(request.origin, { workspace, headers, fetch: noting, retries: 0 })
  const call = itemsCallOf(db, request, options)
  const body = request.body === undefined ? {} : { body: JSON.parse(request.body) as unknown }
  const result = await (call ?? db.$request(request.method, request.path, { ...options, ...body }))
  if (answered === undefined) throw new Error(`nothing came of ${request.method} ${request.path}: ${explain(result)}`)
  requireAgreement(result, answered, call !== undefined)
  return { ...answered, isItems: call !== undefined, agent: navigator.userAgent }
}

/** What the client has words for; a tag without quotes it would quote. */
function optionsOf(given: ItemsRequest['headers']) {
  const { 'If-Match': ifMatch, 'If-None-Match': ifNoneMatch, 'Idempotency-Key': idempotencyKey, ...headers } = given
  const isTag = (text: string | undefined) => text?.startsWith('"')
  const options = {
    ...(isTag(ifMatch) && { ifMatch }),
    ...(isTag(ifNoneMatch) && { ifNoneMatch }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  }
  const unquoted = {
    ...(ifMatch !== undefined && !isTag(ifMatch) && { 'If-Match': ifMatch }),
    ...(ifNoneMatch !== undefined && !isTag(ifNoneMatch) && { 'If-None-Match': ifNoneMatch }),
  }
  return { options, headers: { ...headers, ...unquoted } }
}

/** The result has the answer's status, data, meta and tag, or its error with the deepest code. */
function requireAgreement(result: Result<unknown>, answer: Answer, isItems: boolean): void {
  const isJson = answer.headers.some(([name, value]) => name === 'content-type' && value.includes('json'))
  const body = isJson && answer.body !== '' ? JSON.parse(answer.body) : undefined
  const tag = answer.headers.find(([name]) => name === 'etag')?.[1]
  const seen = result.ok
    ? { data: result.data, meta: (result as { meta?: unknown }).meta, etag: result.etag }
    : { code: result.error.code, messages: result.error.messages, meta: result.error.meta }
  const expected = result.ok
    ? { data: isItems ? body?.data : body, meta: isItems ? body?.meta : undefined, etag: tag }
    : failureOf(body)
  const isOk = answer.status < 400
  if (result.ok === isOk && result.status === answer.status && JSON.stringify(seen) === JSON.stringify(expected)) return
  throw new Error(`the client made ${explain(result)} of ${answer.status} ${answer.body}`)
}

type Body = { readonly message: string; readonly code?: string; readonly meta?: object; readonly source?: Body }

function failureOf(body: Body) {
  const chain: Body[] = []
  for (let link: Body | undefined = body; link !== undefined; link = link.source) chain.push(link)
  const metas = chain.flatMap(({ meta }) => (meta === undefined ? [] : [meta]))
  return {
    code: chain.findLast(({ code }) => code !== undefined)?.code,
    messages: messagesOf(body),
    meta: metas.length === 0 ? undefined : Object.assign({}, ...metas),
  }
}

const explain = (result: Result<unknown>) =>
  JSON.stringify(result.ok ? result : { ...result.error, message: result.error.message })
