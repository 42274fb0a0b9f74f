/** `/api/{workspace}/items/{collection}[/{key}]` (contract 4). */
import { parseItemQuery, parseListQuery } from '../src/core/query/parse.ts'
import type { Entry } from '../src/services/callers.ts'
import type { Services } from '../src/services/services.ts'
import { asked } from './asked-query.ts'
import { type AppContext, enter as enterWorkspace, pathParam } from './context.ts'
import { readJson } from './request.ts'
import { type Answer, dataPieces, dataText, noContent } from './respond.ts'
import { type App, mount } from './routes.ts'

export function mountItems(app: App, services: Services): void {
  const { items, config, licensing } = services
  const body = (c: AppContext) => readJson(c, config.SERVICE_ITEMS__BODY_LIMIT)
  const collection = (c: AppContext) => pathParam(c, 'collection')
  const key = (c: AppContext) => pathParam(c, 'key')

  /** While the license is locked every request ends here, whoever sends it and whatever it asks for. */
  const gated: App = { ...app, before: () => licensing.admit() }

  function enter(c: AppContext): Entry | Promise<Entry> {
    const entry = enterWorkspace(services, c)
    return entry instanceof Promise ? entry.then(admitted) : admitted(entry)
  }

  function admitted(entry: Entry): Entry | Promise<Entry> {
    const waiting = licensing.admit(entry.snapshot.licenseVersion)
    return waiting === undefined ? entry : waiting.then(() => entry)
  }

  mount(gated, '/api/:workspace/items/:collection', {
    GET: async (c) => {
      const answer = await items.listForSending(await enter(c), collection(c), asked(c, parseListQuery))
      return 'pieces' in answer ? dataPieces(answer) : dataText(answer.data, answer.total)
    },
    POST: async (c) => {
      const entry = await enter(c)
      return dataText(await items.create(entry, collection(c), await body(c), asked(c, parseItemQuery)))
    },
    PATCH: async (c) => {
      const entry = await enter(c)
      return dataText(await items.updateMany(entry, collection(c), await body(c), asked(c, parseItemQuery)))
    },
    DELETE: async (c) => deleted(await items.deleteMany(await enter(c), collection(c), asked(c, parseItemQuery))),
  })

  mount(gated, '/api/:workspace/items/:collection/:key', {
    GET: async (c) => dataText(await items.read(await enter(c), collection(c), key(c), asked(c, parseItemQuery))),
    PATCH: async (c) => {
      const entry = await enter(c)
      return dataText(
        await items.updateOne(entry, collection(c), { key: key(c), body: await body(c) }, asked(c, parseItemQuery)),
      )
    },
    DELETE: async (c) =>
      deleted(await items.deleteOne(await enter(c), collection(c), key(c), asked(c, parseItemQuery))),
  })
}

/** Whether an address is one of items, also where there is nothing at it. */
export function isBelowItems(path: string): boolean {
  return /^\/api\/[^/]+\/items(\/|$)/.test(path)
}

function deleted(items: string | undefined): Answer {
  return items === undefined ? noContent() : dataText(items)
}
