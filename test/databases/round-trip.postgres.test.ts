/** What is written is what is read: every type at its extremes, alone and in lists, by every way to write it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Drawing } from '../support/data/model-sketch.ts'
import { type NodeService, startService } from '../support/service/node-service.ts'

/** Values as they are sent; a pair where they come back in another spelling. */
const values: Readonly<Record<string, readonly (readonly [sent: unknown, read?: unknown])[]>> = {
  int16: [[32_767], [-32_768], [0]],
  int32: [[2_147_483_647], [-2_147_483_648], [0]],
  int64: [
    ['9223372036854775807'],
    ['-9223372036854775808'],
    [Number.MAX_SAFE_INTEGER, '9007199254740991'],
    ['-0', '0'],
    ['007', '7'],
  ],
  float32: [[0.1], [-0.1], [16_777_216], [3.4028235e38], [-3.4028235e38], [1e-45], [0]],
  float64: [[0.1], [1.7976931348623157e308], [-1.7976931348623157e308], [5e-324], [1e21], [1 / 3], [2 ** 53]],
  decimal: [
    ['0.00000000000000000001'],
    [`-${'9'.repeat(500)}.${'9'.repeat(500)}`],
    ['-1.10'],
    [7, '7'],
    ['-0.00', '0.00'],
    ['00012.5', '12.5'],
  ],
  decimal_12_4: [['12345678.1234'], ['-99999999.9999'], ['1.5', '1.5000'], ['0.00010000', '0.0001'], [3, '3.0000']],
  string: [
    [''],
    [' '],
    ['null'],
    [`it's "quoted" \\ and {braces, commas}`],
    ['\u0001\u001f\t\r\n\u007f\u0085'],
    ['\u2028\u2029\ufeff\ufffe\uffff\u{10ffff}'],
    ['👩‍👩‍👧‍👦 e\u0301 é שלום'],
    ['$1 %s ? :name %_!'],
    ['x'.repeat(2 ** 20)],
    ['😀'.repeat(2 ** 16)],
  ],
  string_20: [[''], ['😀'.repeat(20)], ['z'.repeat(20)], ['ends in spaces      ']],
  uuid: [
    ['00000000-0000-0000-0000-000000000000'],
    ['FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
  ],
  boolean: [[true], [false]],
  date: [['0001-01-01'], ['9999-12-31'], ['2024-02-29'], ['1582-10-10']],
  time: [['00:00:00'], ['23:59:59.999999'], ['12:00:00.100', '12:00:00.1'], ['09:30:00.000000', '09:30:00']],
  dateTime: [
    ['0001-01-01T00:00:00'],
    ['9999-12-31T23:59:59.999999'],
    ['2024-02-29T12:00:00.5'],
    ['1970-01-01T00:00:00.000', '1970-01-01T00:00:00'],
  ],
  dateTimeWithTimezone: [
    ['0001-01-01T00:00:00Z'],
    ['9999-12-31T23:59:59.999999Z'],
    ['2024-02-29T01:00:00.120+05:30', '2024-02-28T19:30:00.12Z'],
    ['1969-12-31T23:59:59-00:01', '1970-01-01T00:00:59Z'],
    ['0001-01-01T23:59:00+23:59', '0001-01-01T00:00:00Z'],
  ],
  json: [
    [{}],
    [[]],
    [{ a: [1, { b: null, '': 'é"\\\u2028😀' }], __proto__x: { constructor: 1 } }],
    [JSON.parse('{"__proto__": {"a": 1}, "toString": 2}')],
    ['text'],
    [''],
    ['5'],
    [0],
    [-1.5e300],
    [123_456_789.125],
    [true],
    [false],
    [[null, [[], [[]]]]],
    [JSON.parse(`${'['.repeat(900)}${']'.repeat(900)}`)],
    [{ big: 'x'.repeat(100_000) }],
  ],
  bytes: [
    [''],
    ['AA=='],
    ['/+8='],
    [Buffer.from(Uint8Array.from({ length: 256 }, (_, byte) => byte)).toString('base64')],
    [Buffer.alloc(300_000, 171).toString('base64')],
  ],
}

const types = Object.keys(values)
const columns = types.flatMap((type) => {
  const text = type.replace('_12_4', '(12,4)').replace('_20', '(20)')
  return [
    [`${type}One`, `${text}?`],
    [`${type}Many`, `${text}[]?`],
  ]
})

const drawing: Drawing = {
  collections: {
    boxes: { id: 'int32 = counted', label: 'string?' },
    values: { id: 'int32 = counted', boxId: 'int32?', ...Object.fromEntries(columns) },
  },
  keys: {},
  relations: ['values.box(boxId) -> boxes.values'],
}

type Item = Readonly<Record<string, unknown>>
type Case = { readonly sent: Item; readonly read: Item }

/** Every value once, and every list once: none, only null, all of them, and all with nulls between. */
const cases: readonly Case[] = Array.from({ length: 15 }, (_, index) => {
  const cells = types.flatMap((type) => {
    const ofType = values[type] ?? []
    const [one = [null]] = index < ofType.length ? [ofType[index]] : []
    return [
      [`${type}One`, ...spelled(one)] as const,
      [
        `${type}Many`,
        ...listOf(
          ofType.filter(([sent]) => JSON.stringify(sent).length < 10_000),
          index,
        ),
      ] as const,
    ]
  })
  return {
    sent: Object.fromEntries(cells.map(([name, sent]) => [name, sent])),
    read: Object.fromEntries(cells.map(([name, , read]) => [name, read])),
  }
})

function spelled(pair: readonly [unknown, unknown?]): readonly [unknown, unknown] {
  return [pair[0], pair.length === 2 ? pair[1] : pair[0]]
}

function listOf(ofType: readonly (readonly [unknown, unknown?])[], index: number): readonly [unknown, unknown] {
  const pairs = ofType.map(spelled)
  const lists: readonly (readonly [unknown, unknown])[] = [
    [[], []],
    [[null], [null]],
    [pairs.map(([sent]) => sent), pairs.map(([, read]) => read)],
    [pairs.flatMap(([sent]) => [sent, null]), pairs.flatMap(([, read]) => [read, null])],
  ]
  return lists[index] ?? [null, null]
}

let service: NodeService

beforeAll(async () => {
  service = await startService('library', drawing)
})

afterAll(() => service?.close())

describe('a value', () => {
  it('comes back as it was created', async () => {
    const created = await Promise.all(cases.map(({ sent }) => write('POST', 'values', [sent])))

    const answered = created.flat()
    expect(answered.map(withoutKeys)).toEqual(cases.map(({ read }) => read))
    expect(await readAgain(answered)).toEqual(cases.map(({ read }) => read))
  })

  it('comes back from one statement of many items', async () => {
    const small = cases.filter(({ sent }) => JSON.stringify(sent).length < 300_000)

    const created = await write(
      'POST',
      'values',
      small.map(({ sent }) => sent),
    )

    expect(created.map(withoutKeys)).toEqual(small.map(({ read }) => read))
  })

  it('comes back as one item was changed', async () => {
    const blank = await write(
      'POST',
      'values',
      cases.map(() => ({})),
    )

    for (const [index, { sent, read }] of cases.entries()) {
      expect(withoutKeys(await write('PATCH', `values/${blank[index]?.id}`, sent))).toEqual(read)
    }

    expect(await readAgain(blank)).toEqual(cases.map(({ read }) => read))
  })

  it('comes back as many items were changed', async () => {
    const blank = await write('POST', 'values', [{}, {}])
    const ids = blank.map(({ id }, index) => `filter[id][_in][${index}]=${id}`).join('&')

    for (const { sent, read } of cases) {
      const changed = await write('PATCH', `values?${ids}`, sent)
      expect(changed.map(withoutKeys)).toEqual([read, read])
      expect(await readAgain(blank)).toEqual([read, read])
    }
  })

  it('comes back as it was created below another item', async () => {
    const boxes = await Promise.all(
      cases.map(({ sent }) => write('POST', 'boxes?fields=id,values.*', [{ values: [{ _create: { data: [sent] } }] }])),
    )

    const nested = boxes.flat().map(({ values: below }) => (below as { data: Item[] }).data)
    expect(nested.map((items) => items.map(withoutKeys))).toEqual(cases.map(({ read }) => [read]))
    expect(await readAgain(nested.flat())).toEqual(cases.map(({ read }) => read))
  })

  it('comes back as it was created and changed below a changed item', async () => {
    const [box] = await write('POST', 'boxes', [{}])

    for (const { sent, read } of cases) {
      const body = { values: [{ _delete: {} }, { _create: { data: [{}] } }, { _update: { data: sent } }] }
      const changed = await write('PATCH', `boxes/${box?.id}?fields=values.*`, body)
      expect((changed.values as { data: Item[] }).data.map(withoutKeys)).toEqual([read])
    }
  })

  it('comes back as it was created above another item', async () => {
    const below = await Promise.all(
      ['', 'label', '😀'].map((label) =>
        write('POST', 'values?fields=box.label', [{ box: { _create: { data: { label } } } }]),
      ),
    )

    expect(below.flat()).toEqual(['', 'label', '😀'].map((label) => ({ box: { label } })))
  })

  it('of null takes the place of every other', async () => {
    const created = await write('POST', 'values', [cases[0]?.sent])
    const nothing = Object.fromEntries(columns.map(([name]) => [name, null]))

    const changed = await write('PATCH', `values/${created[0]?.id}`, nothing)

    expect(withoutKeys(changed)).toEqual(nothing)
    expect(await readAgain(created)).toEqual([nothing])
  })

  it('finds its item again', async () => {
    const [created] = await write('POST', 'values', [cases[1]?.sent])
    const searched = types.filter((type) => type !== 'bytes' && type !== 'json')

    const found = await Promise.all(
      searched.map((type) => {
        const operand = encodeURIComponent(String(cases[1]?.read[`${type}One`]))
        return service.send('GET', `values?fields=id&filter[id]=${created?.id}&filter[${type}One][_eq]=${operand}`)
      }),
    )

    expect(found).toEqual(searched.map(() => ({ status: 200, body: { data: [{ id: created?.id }] } })))
  })
})

async function write(method: 'POST', path: string, body: unknown): Promise<readonly Item[]>
async function write(method: 'PATCH', path: `values?${string}`, body: unknown): Promise<readonly Item[]>
async function write(method: 'PATCH', path: string, body: unknown): Promise<Item>
async function write(method: string, path: string, body: unknown): Promise<unknown> {
  const { status, body: answer } = await service.send(method, path, body)
  if (status !== 200) throw new Error(`${method} ${path} answered ${status}: ${JSON.stringify(answer)}`)
  return (answer as { data: unknown }).data
}

/** The items by another request, in the order given. */
async function readAgain(items: readonly Item[]): Promise<readonly Item[]> {
  const answers = await Promise.all(items.map(({ id }) => service.send('GET', `values/${id}`)))
  return answers.map(({ body }) => withoutKeys((body as { data: Item }).data))
}

function withoutKeys({ id: _id, boxId: _boxId, ...item }: Item): Item {
  return item
}
