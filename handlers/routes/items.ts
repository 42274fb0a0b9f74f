/** `/api/{workspace}/items/{collection}[/{key}]` (docs/contract.md#items). */
import { andThen, attempt, type Eventual } from '../../src/core/and-then.ts'
import type { RequestScope } from '../../src/services/caller/callers.ts'
import type { ListAnswer, LongAnswer } from '../../src/services/data/items.ts'
import type { Services } from '../../src/services/instance/services.ts'
import { type Answer, dataPieces, dataText, noContent } from '../http/answer.ts'
import { readJson } from '../http/body.ts'
import { authorize } from '../http/context.ts'
import { type App, type Handler, mount } from '../http/mount.ts'
import { answered, rawQuery } from '../http/raw-query.ts'
import { type AppContext, lastSegment, pathParam } from '../http/request.ts'

export function mountItems(app: App, services: Services): void {
  const { items, config, licensing } = services
  const body = (c: AppContext) => readJson(c, config.SERVICE_ITEMS__BODY_LIMIT)
  const collection = (c: AppContext) => pathParam(c, 'collection')
  const key = (c: AppContext) => ({ kind: 'segment', text: lastSegment(c) }) as const

  /** Throws 402 while the license is locked, whatever the caller and the path; otherwise `error`. */
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

  /** Wraps a handler with authorization; synchronous where the caller is cached. */
  function inWorkspace(work: (c: AppContext, scope: RequestScope) => Eventual<Answer>): Handler {
    return (c) => andThen(enter(c), (scope) => work(c, scope))
  }

  mount(
    app,
    '/api/:workspace/items/:collection',
    {
      GET: inWorkspace((c, scope) => answered(c, items.listForSending(scope, collection(c), rawQuery(c)), listed)),
      POST: inWorkspace(async (c, scope) =>
        answered(c, items.create(scope, collection(c), await body(c), rawQuery(c)), dataText),
      ),
      PATCH: inWorkspace(async (c, scope) =>
        answered(c, items.updateMany(scope, collection(c), await body(c), rawQuery(c)), dataText),
      ),
      DELETE: inWorkspace((c, scope) => answered(c, items.deleteMany(scope, collection(c), rawQuery(c)), deleted)),
    },
    { strictQuery: ['GET', 'POST', 'PATCH', 'DELETE'], instead },
  )

  mount(
    app,
    '/api/:workspace/items/:collection/:key',
    {
      GET: inWorkspace((c, scope) => answered(c, items.read(scope, collection(c), key(c), rawQuery(c)), dataText)),
      PATCH: inWorkspace(async (c, scope) => {
        const sent = { key: key(c), body: await body(c) }
        return answered(c, items.updateOne(scope, collection(c), sent, rawQuery(c)), dataText)
      }),
      DELETE: inWorkspace((c, scope) =>
        answered(c, items.deleteOne(scope, collection(c), key(c), rawQuery(c)), deleted),
      ),
    },
    { strictQuery: ['GET', 'PATCH', 'DELETE'], instead },
  )
}

function listed(answer: ListAnswer | LongAnswer): Answer {
  return 'pieces' in answer ? dataPieces(answer) : dataText(answer.data, answer.total)
}

function deleted(items: string | undefined): Answer {
  return items === undefined ? noContent() : dataText(items)
}
