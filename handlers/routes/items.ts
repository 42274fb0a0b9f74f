/** `/api/{workspace}/items/{collection}[/{key}]` (docs/contract.md#items). */
import { parseItemQuery, parseListQuery } from '../../src/core/query/parse.ts'
import type { Entry } from '../../src/services/caller/callers.ts'
import type { ListAnswer, LongAnswer } from '../../src/services/data/items.ts'
import type { Services } from '../../src/services/instance/services.ts'
import { type Answer, dataPieces, dataText, noContent } from '../http/answer.ts'
import { readJson } from '../http/body.ts'
import { enter as enterWorkspace } from '../http/context.ts'
import { type App, type Handler, mount } from '../http/mount.ts'
import { asked } from '../http/raw-query.ts'
import { type AppContext, itemKey, pathParam } from '../http/request.ts'

export function mountItems(app: App, services: Services): void {
  const { items, config, licensing } = services
  const body = (c: AppContext) => readJson(c, config.SERVICE_ITEMS__BODY_LIMIT)
  const collection = (c: AppContext) => pathParam(c, 'collection')
  const key = (c: AppContext) => itemKey(c, 'key')

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

  /** A handler of whoever is asking; nothing is waited for where they are known. */
  function entered(work: (c: AppContext, entry: Entry) => Promise<Answer>): Handler {
    return (c) => {
      const entry = enter(c)
      return entry instanceof Promise ? entry.then((late) => work(c, late)) : work(c, entry)
    }
  }

  mount(
    gated,
    '/api/:workspace/items/:collection',
    {
      GET: entered((c, entry) => items.listForSending(entry, collection(c), asked(c, parseListQuery)).then(listed)),
      POST: entered(async (c, entry) =>
        dataText(await items.create(entry, collection(c), await body(c), asked(c, parseItemQuery))),
      ),
      PATCH: entered(async (c, entry) =>
        dataText(await items.updateMany(entry, collection(c), await body(c), asked(c, parseItemQuery))),
      ),
      DELETE: entered((c, entry) => items.deleteMany(entry, collection(c), asked(c, parseItemQuery)).then(deleted)),
    },
    { asked: ['GET', 'POST', 'PATCH', 'DELETE'] },
  )

  mount(
    gated,
    '/api/:workspace/items/:collection/:key',
    {
      GET: entered((c, entry) => items.read(entry, collection(c), key(c), asked(c, parseItemQuery)).then(item)),
      PATCH: entered(async (c, entry) => {
        const sent = { key: key(c), body: await body(c) }
        return dataText(await items.updateOne(entry, collection(c), sent, asked(c, parseItemQuery)))
      }),
      DELETE: entered((c, entry) =>
        items.deleteOne(entry, collection(c), key(c), asked(c, parseItemQuery)).then(deleted),
      ),
    },
    { asked: ['GET', 'PATCH', 'DELETE'] },
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
