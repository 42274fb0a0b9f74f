/** Measures how long a freshly started service takes to load a large model: 1,000 collections with 20 fields each. */
import { plainCollection } from '../../test/migration/support/collections.ts'
import { measureLoad } from '../../test/migration/support/measure-load.ts'
import type { Measured } from './figures.ts'
import type { Lab } from './lab.ts'
import { makeWorkspace } from './model.ts'

const NAME = 'wide'

export async function measureModelLoad(lab: Lab, progress: (text: string) => void): Promise<readonly Measured[]> {
  const { api, databaseUrl } = await lab.data()
  progress('making 1,000 collections with 20 fields')
  const workspace = await makeWorkspace(api, NAME)
  const names = Array.from({ length: 1_000 }, (_, index) => `collection${index}`)
  for (let start = 0; start < names.length; start += 100) {
    const operations = names.slice(start, start + 100).map((name) => plainCollection(workspace, name, 19))
    await api('POST', `/api/${NAME}/schema/migrate`, { operations })
  }
  progress('loading their model')
  const { first, fastest, bytes } = await measureLoad(databaseUrl, workspace)
  const megabytes = bytes / 2 ** 20
  const detail = `the fastest of 10; ${first.toFixed(0)} ms the first, before anything is compiled`
  return [
    {
      what: 'model of 1,000 × 20 fields: load',
      bound: { kind: 'atMost', value: 150 },
      value: fastest,
      unit: 'ms',
      detail,
    },
    {
      what: 'model of 1,000 × 20 fields: memory',
      bound: { kind: 'atMost', value: 30 },
      value: megabytes,
      unit: 'MB',
      detail: 'on the heap, after a collection',
    },
  ]
}
