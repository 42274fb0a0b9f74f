/**
 * `/api/{workspace}/items[/{collection}[/{key}]]` (docs/contract.md#items) and `/api/{workspace}/aggregates/{collection}`
 * (docs/contract.md#aggregates), with the same authorization.
 */
import type { Action } from '../../src/core/access/access.ts'
import { andThen, attempt, type Eventual } from '../../src/core/and-then.ts'
import type { RequestScope } from '../../src/services/caller/callers.ts'
import type { ItemQuery, ListAnswer, ListQuery, LongAnswer, OnceKey } from '../../src/services/data/items.ts'
import type { Services } from '../../src/services/instance/services.ts'
import { type Answer, batchText, dataPieces, dataText, jsonText, listText, noContent } from '../http/answer.ts'
import { isSmall, readJson } from '../http/body.ts'
import { authorize } from '../http/context.ts'
import { searchWithoutToken } from '../http/credentials.ts'
import { itemWithEtag, tagsOf } from '../http/etag.ts'
import { answeredOnce, answeredWrite } from '../http/idempotency-key.ts'
import { taggingOf } from '../http/list-tag.ts'
import { type App, type Handler, mount } from '../http/mount.ts'
import { answered, bodyQuery, pageAfter, rawQuery, readOptions } from '../http/raw-query.ts'
import { type AppContext, headerOf, lastSegment, pathParam, segmentBeforeLast } from '../http/request.ts'
import { readIn } from '../http/sent.ts'

export function mountItems(app: App, services: Services): void {
  const { items, config, licensing } = services
  const { tagOf } = services.ports
  const body = (c: AppContext) => readJson(c, config.SERVICE_ITEMS__BODY_LIMIT)
  const query = (c: AppContext) => bodyQuery(c, config.SERVICE_ITEMS__BODY_LIMIT)
  const collection = (c: AppContext) => pathParam(c, 'collection')
  const key = (c: AppContext) => ({ kind: 'segment', text: lastSegment(c) }) as const

  /** Throws 402 while the license is locked, for every caller and path; otherwise `error`. */
  const instead = (error: unknown): Eventual<never> =>
    andThen(licensing.admit(), () => {
      throw error
    })

  function enter(c: AppContext): Eventual<RequestScope> {
    return attempt(
      () => authorize(services, c),
      (scope) => andThen(licensing.admit(scope.snapshot.licenseVersion), () => scope),
      instead,
    )
  }

  /** The scope of a read: the caller's, or with `Act-As` that of another principal, limited to what the caller may read. */
  function reader(c: AppContext): Eventual<RequestScope> {
    const header = headerOf(c, 'act-as')
    return header === undefined ? enter(c) : andThen(enter(c), (scope) => services.actAs.enter(scope, header))
  }

  /** Wraps a handler with authorization; synchronous if the caller is cached. */
  function inWorkspace(work: (c: AppContext, scope: RequestScope) => Eventual<Answer>): Handler {
    return (c) => andThen(reader(c), (scope) => work(c, scope))
  }

  /** Like `inWorkspace`, with a body. A large one is read only if the caller may do `action`, or anything at all. */
  function withBody<Sent>(
    action: Action | undefined,
    read: (c: AppContext) => Promise<Sent>,
    work: (c: AppContext, scope: RequestScope, sent: Sent) => Eventual<Answer>,
  ): Handler {
    return async (c) => {
      const [scope, sent] = await readIn(
        async () => {
          const scope = await enter(c)
          if (!isSmall(c)) await (await items.admit(scope, action && { name: collection(c), action })).answer
          return scope
        },
        () => read(c),
        // Acting as somebody else is recorded in the audit log, so it begins only after the body has arrived.
        () => reader(c),
      )
      return work(c, scope, sent)
    }
  }

  /** A list with an entity tag is not streamed, because its tag must be known before its first byte is sent. */
  function list(c: AppContext, scope: RequestScope, sentQuery: ListQuery, linkTo?: LinkTo): Eventual<Answer> {
    const { query, tagged } = taggingOf(c, tagOf, sentQuery)
    const shown = (answer: ListAnswer | LongAnswer) => listed(answer, linkTo)
    if (tagged === undefined) return answered(c, items.listForSending(scope, collection(c), query), shown)
    return answered(c, items.list(scope, collection(c), query), (answer) => tagged(shown(answer)))
  }

  mount(
    app,
    '/api/:workspace/items',
    {
      POST: withBody(undefined, body, (c, scope, sent) => {
        const run = (once: OnceKey | undefined) => items.batch(scope, sent, { ...readOptions(c), once })
        return answeredOnce(c, run, batchText)
      }),
    },
    { headers: { POST: onceOnly }, instead },
  )

  mount(
    app,
    '/api/:workspace/items/:collection',
    {
      GET: inWorkspace((c, scope) => list(c, scope, rawQuery(c), pageAfter(c))),
      QUERY: withBody('read', query, list),
      POST: withBody('create', body, (c, scope, sent) =>
        answeredWrite(c, (query) => items.create(scope, collection(c), sent, query), dataText),
      ),
      PATCH: withBody('update', body, (c, scope, sent) =>
        answeredWrite(c, (query) => items.updateMany(scope, collection(c), sent, query), dataText),
      ),
      DELETE: inWorkspace((c, scope) =>
        answeredWrite(c, (query) => items.deleteMany(scope, collection(c), query), deleted),
      ),
    },
    {
      strictQuery: ['GET', 'QUERY', 'POST', 'PATCH', 'DELETE'],
      actsAs: true,
      headers: { GET: onceKnown, QUERY: onceKnown, POST: onceOnly, PATCH: onceOnly, DELETE: onceOnly },
      instead,
    },
  )

  mount(
    app,
    '/api/:workspace/items/:collection/:key',
    {
      GET: inWorkspace((c, scope) => {
        const known = tagsOf(c, 'If-None-Match')
        const item = items.read(scope, collection(c), key(c), rawQuery(c))
        return answered(c, item, (text) => itemWithEtag(known, tagOf, text))
      }),
      PATCH: withBody('update', body, (c, scope, body) => {
        const tags = tagsToMatch(c)
        const sent = { key: key(c), body }
        return answeredWrite(c, (query) => items.updateOne(scope, collection(c), sent, { ...query, tags }), dataText)
      }),
      DELETE: inWorkspace((c, scope) => {
        const tags = tagsToMatch(c)
        const write = (query: ItemQuery) => items.deleteOne(scope, collection(c), key(c), { ...query, tags })
        return answeredWrite(c, write, deleted)
      }),
    },
    {
      strictQuery: ['GET', 'PATCH', 'DELETE'],
      actsAs: true,
      headers: { GET: onceKnown, PATCH: bound, DELETE: bound },
      instead,
    },
  )

  mount(
    app,
    '/api/:workspace/items/:collection/:key/changes',
    {
      GET: inWorkspace((c, scope) => {
        const key = { kind: 'segment', text: segmentBeforeLast(c) } as const
        const sent = { sent: searchWithoutToken(c.req.url), ...readOptions(c) }
        return answered(c, items.changes(scope, collection(c), key, sent), ({ changes, next }) =>
          jsonText(`{"data":[${changes.join()}],"meta":${JSON.stringify({ next })}}`),
        )
      }),
    },
    { strictQuery: ['GET'], actsAs: true, instead },
  )

  mount(
    app,
    '/api/:workspace/aggregates/:collection',
    {
      GET: inWorkspace((c, scope) => answered(c, items.aggregate(scope, collection(c), rawQuery(c)), grouped)),
      QUERY: withBody('read', query, (c, scope, query) =>
        answered(c, items.aggregate(scope, collection(c), query), grouped),
      ),
    },
    { strictQuery: ['GET', 'QUERY'], actsAs: true, instead },
  )
}

function grouped(answer: ListAnswer): Answer {
  return listText(answer)
}

const onceKnown = ['If-None-Match'] as const
const onceOnly = ['Idempotency-Key'] as const
const bound = ['Idempotency-Key', 'If-Match'] as const

/** `If-Match: *` adds nothing, because the item must exist anyway. */
function tagsToMatch(c: AppContext): readonly string[] | undefined {
  const tags = tagsOf(c, 'If-Match')
  return tags === 'any' ? undefined : tags
}

type LinkTo = ReturnType<typeof pageAfter>

/** Without `linkTo` the answer has no link: the query of a QUERY request is in its body, which no address can contain. */
function listed(answer: ListAnswer | LongAnswer, linkTo?: LinkTo): Answer {
  return 'pieces' in answer ? dataPieces(answer) : listText(answer, linkTo)
}

function deleted(items: string | undefined): Answer {
  return items === undefined ? noContent() : dataText(items)
}
