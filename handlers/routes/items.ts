/** `/api/{workspace}/items/{collection}[/{key}]` (docs/contract.md#items). */
import { parseItemQuery, parseListQuery } from '../../src/core/query/parse.ts'
import type { RequestScope } from '../../src/services/caller/callers.ts'
import type { ListAnswer, LongAnswer } from '../../src/services/data/items.ts'
import type { Services } from '../../src/services/instance/services.ts'
import { type Answer, dataPieces, dataText, noContent } from '../http/answer.ts'
import { readJson } from '../http/body.ts'
import { authorize as enterWorkspace } from '../http/context.ts'
import { type App, type Handler, mount } from '../http/mount.ts'
import { rawQuery } from '../http/raw-query.ts'
import { type AppContext, itemKey, pathParam } from '../http/request.ts'

export function mountItems(app: App, services: Services): void {
  const { items, config, licensing } = services
  const body = (c: AppContext) => readJson(c, config.SERVICE_ITEMS__BODY_LIMIT)
  const collection = (c: AppContext) => pathParam(c, 'collection')
  const key = (c: AppContext) => itemKey(c, 'key')

  /** While the license is locked, every request ends here, whatever its caller and path. */
  const gated: App = { ...app, before: () => licensing.admit() }

  function enter(c: AppContext): RequestScope | Promise<RequestScope> {
    const scope = enterWorkspace(services, c)
    return scope instanceof Promise ? scope.then(admitted) : admitted(scope)
  }

  function admitted(scope: RequestScope): RequestScope | Promise<RequestScope> {
    const waiting = licensing.admit(scope.snapshot.licenseVersion)
    return waiting === undefined ? scope : waiting.then(() => scope)
  }

  /** Wraps a handler with authorization; synchronous where the caller is cached. */
  function entered(work: (c: AppContext, scope: RequestScope) => Promise<Answer>): Handler {
    return (c) => {
      const scope = enter(c)
      return scope instanceof Promise ? scope.then((late) => work(c, late)) : work(c, scope)
    }
  }

  mount(
    gated,
    '/api/:workspace/items/:collection',
    {
      GET: entered((c, scope) => items.listForSending(scope, collection(c), rawQuery(c, parseListQuery)).then(listed)),
      POST: entered(async (c, scope) =>
        dataText(await items.create(scope, collection(c), await body(c), rawQuery(c, parseItemQuery))),
      ),
      PATCH: entered(async (c, scope) =>
        dataText(await items.updateMany(scope, collection(c), await body(c), rawQuery(c, parseItemQuery))),
      ),
      DELETE: entered((c, scope) => items.deleteMany(scope, collection(c), rawQuery(c, parseItemQuery)).then(deleted)),
    },
    { strictQuery: ['GET', 'POST', 'PATCH', 'DELETE'] },
  )

  mount(
    gated,
    '/api/:workspace/items/:collection/:key',
    {
      GET: entered((c, scope) => items.read(scope, collection(c), key(c), rawQuery(c, parseItemQuery)).then(item)),
      PATCH: entered(async (c, scope) => {
        const sent = { key: key(c), body: await body(c) }
        return dataText(await items.updateOne(scope, collection(c), sent, rawQuery(c, parseItemQuery)))
      }),
      DELETE: entered((c, scope) =>
        items.deleteOne(scope, collection(c), key(c), rawQuery(c, parseItemQuery)).then(deleted),
      ),
    },
    { strictQuery: ['GET', 'PATCH', 'DELETE'] },
  )
}

function listed(answer: ListAnswer | LongAnswer): Answer {
  return 'pieces' in answer ? dataPieces(answer) : dataText(answer.data, answer.total)
}

function item(text: string): Answer {
  return dataText(text)
}

function deleted(items: string | undefined): Answer {
  return items === undefined ? noContent() : dataText(items)
}
