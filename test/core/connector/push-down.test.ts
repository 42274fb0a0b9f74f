import fc from 'fast-check'
import { matches } from 'governed-data-service/connector-kit'
import { describe, expect, it } from 'vitest'
import { keyFromFilter } from '../../../src/core/connector/by-key.ts'
import { lookupOperator, operatorSupport } from '../../../src/core/connector/item-capabilities.ts'
import {
  type DeclaredCollection,
  pushFilter,
  pushKeys,
  pushOrder,
  requireOperation,
} from '../../../src/core/connector/push-down.ts'
import type { Capabilities } from '../../../src/core/connector/schema.ts'
import { errorBody, ServiceError } from '../../../src/core/error.ts'
import type { PrimitiveField } from '../../../src/core/model/model.ts'
import { connectorOperator, operators } from '../../../src/core/model/vocabulary.ts'
import { evaluate } from '../../../src/core/query/evaluate.ts'
import { all, and, type Filter, isTrue, not, or } from '../../../src/core/query/filter.ts'
import { build } from '../../support/data/build.ts'
import { casesOr } from '../../support/run/cases.ts'

const model = build.model({
  songs: {
    id: 'int32',
    title: 'string?',
    plays: 'int32?',
    rank: 'decimal?',
    sold: 'int64?',
    at: 'dateTimeWithTimezone?',
  },
})
const collection = model.byName.get('songs') ?? fail('songs')
const field = (name: string) => collection.primitives.find((one) => one.apiName === name) ?? fail(name)

const everything: Capabilities = {
  key: ['id'],
  operations: ['readMany'],
  filter: Object.fromEntries(collection.primitives.map(({ dbName }) => [dbName, operators.map(connectorOperator)])),
  sort: ['title', 'plays'],
  count: true,
  offset: true,
  after: false,
  conditional: false,
  idempotent: false,
}

const declared = (more: Partial<Capabilities> = {}): DeclaredCollection => ({
  collection,
  capabilities: { ...everything, ...more },
})

const is = (name: string, operand: string, visible: Filter = all): Filter => ({
  kind: 'compare',
  field: field(name),
  visible,
  operator: '=',
  operand,
})
const isNull = (name: string, negated = false): Filter => ({ kind: 'null', field: field(name), visible: all, negated })

/** Of each field three values in growing order, each in three forms in which a connector may hold it, the first the service's own. */
const forms: Readonly<Record<string, readonly (readonly unknown[])[]>> = {
  title: [
    ['10', '10', '10'],
    ['9', '9', '9'],
    ['9.0', '9.0', '9.0'],
  ],
  plays: [
    [-2, -2, -2],
    [9, 9, 9],
    [10, 10, 10],
  ],
  rank: [
    ['-2.5', -2.5, '-2.50'],
    ['9', 9, '9.00'],
    ['10.1', 10.1, '10.10'],
  ],
  sold: [
    ['-9007199254740993', '-9007199254740993', '-09007199254740993'],
    ['9', 9, '09'],
    ['10', 10, '0010'],
  ],
  at: [
    ['2024-05-01T10:00:00Z', '2024-05-01T12:00:00+02:00', '2024-05-01T10:00:00.000Z'],
    ['2024-05-01T10:00:00.5Z', '2024-05-01T08:00:00.5-02:00', '2024-05-01T10:00:00.50Z'],
    ['2024-05-01T10:30:00Z', '2024-05-01T10:30:00+00:00', '2024-05-01T10:30:00.000000Z'],
  ],
}

/** The canonical text of a value. */
function textAt({ dbName }: PrimitiveField, at: number): string {
  return String(forms[dbName]?.[at]?.[0])
}

function fail(what: string): never {
  throw new Error(`there is no ${what}`)
}

function messages(work: () => unknown): readonly string[] {
  try {
    work()
    return []
  } catch (error) {
    const texts: string[] = []
    if (!(error instanceof ServiceError)) throw error
    for (let body: ReturnType<typeof errorBody> | undefined = errorBody(error); body; body = body.source) {
      texts.push(body.message)
    }
    return texts
  }
}

describe('a filter', () => {
  it.each<[string, Filter, unknown]>([
    ['a comparison', is('title', 'x'), { field: 'title', operator: 'eq', value: 'x' }],
    ['a number as such', is('plays', '5'), { field: 'plays', type: 'int32', operator: 'eq', value: 5 }],
    ['a decimal as a text', is('rank', '5.50'), { field: 'rank', type: 'decimal', operator: 'eq', value: '5.50' }],
    ['its opposite by the opposite operator', not(is('title', 'x')), { field: 'title', operator: 'neq', value: 'x' }],
    ['a test for null', isNull('title'), { field: 'title', operator: 'null', value: true }],
    ['a test for no null', not(isNull('title')), { field: 'title', operator: 'null', value: false }],
    [
      'what is not true, null rows included',
      not(isTrue(is('title', 'x'))),
      {
        or: [
          { field: 'title', operator: 'neq', value: 'x' },
          { field: 'title', operator: 'null', value: true },
        ],
      },
    ],
    [
      'a field that is visible in some rows',
      is('title', 'x', is('plays', '1')),
      {
        and: [
          { field: 'plays', type: 'int32', operator: 'eq', value: 1 },
          { field: 'title', operator: 'eq', value: 'x' },
        ],
      },
    ],
    [
      'what is not true, rows in which it is hidden included',
      not(isTrue(is('id', '1', is('plays', '1')))),
      {
        or: [
          { field: 'id', type: 'int32', operator: 'neq', value: 1 },
          {
            or: [
              { field: 'plays', type: 'int32', operator: 'neq', value: 1 },
              { field: 'plays', operator: 'null', value: true },
            ],
          },
        ],
      },
    ],
    [
      'none of two',
      not(or([is('title', 'x'), is('plays', '1')])),
      {
        and: [
          { field: 'title', operator: 'neq', value: 'x' },
          { field: 'plays', type: 'int32', operator: 'neq', value: 1 },
        ],
      },
    ],
    [
      'a part of a text, whatever its case, negated',
      {
        kind: 'match',
        field: field('title'),
        visible: all,
        match: { part: 'contains', ignoreCase: true },
        negated: true,
        operand: 'a',
      },
      { field: 'title', operator: 'nicontains', value: 'a' },
    ],
    [
      'a range',
      { kind: 'between', field: field('plays'), visible: all, negated: false, low: '1', high: '2' },
      { field: 'plays', type: 'int32', operator: 'between', value: [1, 2] },
    ],
    [
      'a list',
      { kind: 'in', field: field('plays'), visible: all, negated: true, operands: ['1', '2'] },
      { field: 'plays', type: 'int32', operator: 'nin', value: [1, 2] },
    ],
  ])('%s', (_, filter, expected) => {
    expect(pushFilter(declared(), filter)).toEqual({ kind: 'filter', filter: expected })
  })

  it('asks for nothing where nothing or everything is meant', () => {
    expect(pushFilter(declared(), all)).toEqual({ kind: 'everything' })
    expect(pushFilter(declared(), not(all))).toEqual({ kind: 'nothing' })
    expect(pushFilter(declared(), { ...isNull('id') })).toEqual({ kind: 'nothing' })
  })

  it('negates the opposite where only that is declared', () => {
    const only = declared({ filter: { title: ['eq'] } })

    expect(pushFilter(only, not(is('title', 'x')))).toEqual({
      kind: 'filter',
      filter: { not: { field: 'title', operator: 'eq', value: 'x' } },
    })
  })

  it('is refused where it is not declared', () => {
    expect(messages(() => pushFilter(declared({ filter: { title: ['contains'] } }), is('title', 'x')))).toEqual([
      'Failed to execute query',
      'filter.title._eq',
      'is not declared by the data source',
    ])
  })

  it('means in a connector what it means here', () => {
    const ref = fc.record({ field: fc.constantFrom(...Object.keys(forms)).map(field) })
    const leaf = (visible: fc.Arbitrary<Filter>): fc.Arbitrary<Filter> =>
      fc.oneof(
        fc
          .tuple(ref, visible, fc.constantFrom('=' as const, '<>' as const, '<' as const, '>=' as const), fc.nat(2))
          .map(
            ([{ field: of }, seen, operator, at]): Filter => ({
              kind: 'compare',
              field: of,
              visible: seen,
              operator,
              operand: textAt(of, at),
            }),
          ),
        fc
          .tuple(ref, visible, fc.boolean())
          .map(([{ field: of }, seen, negated]): Filter => ({ kind: 'null', field: of, visible: seen, negated })),
        fc.tuple(ref, visible, fc.boolean(), fc.array(fc.nat(2), { minLength: 1, maxLength: 2 })).map(
          ([{ field: of }, seen, negated, places]): Filter => ({
            kind: 'in',
            field: of,
            visible: seen,
            negated,
            operands: places.map((at) => textAt(of, at)),
          }),
        ),
      )
    const { tree } = fc.letrec<{ tree: Filter }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        leaf(fc.constant(all)),
        leaf(leaf(fc.constant(all))),
        fc.array(tie('tree'), { minLength: 1, maxLength: 3 }).map(and),
        fc.array(tie('tree'), { minLength: 1, maxLength: 3 }).map(or),
        tie('tree').map(not),
        tie('tree').map(isTrue),
      ),
    }))
    const one = fc.option(fc.record({ at: fc.nat(2), form: fc.nat(2) }), { nil: null })
    const row = fc.record(Object.fromEntries(Object.keys(forms).map((name) => [name, one])))
    return fc.assert(
      fc.property(tree, row, (filter, chosen) => {
        const own = (of: PrimitiveField) => {
          const at = chosen[of.dbName]?.at
          return of.dbName === 'id' ? '1' : at === undefined ? null : textAt(of, at)
        }
        const record = Object.fromEntries(
          Object.entries(chosen).map(([name, value]) => [
            name,
            value === null ? null : forms[name]?.[value.at]?.[value.form],
          ]),
        )

        const pushed = pushFilter(declared(), filter)

        const asked =
          pushed.kind === 'filter' ? matches(pushed.filter as never, record) === true : pushed.kind === 'everything'
        expect(asked).toBe(evaluate(filter, own) === true)
      }),
      { numRuns: casesOr(500) },
    )
  })
})

describe('keys', () => {
  it.each<[Partial<Capabilities>, string, unknown]>([
    [{ filter: {} }, 'id', { field: 'id', type: 'int32', operator: 'in', value: [1, 2] }],
    [{ filter: { plays: ['in'] } }, 'plays', { field: 'plays', type: 'int32', operator: 'in', value: [1, 2] }],
    [
      { filter: { plays: ['eq'] } },
      'plays',
      {
        or: [
          { field: 'plays', type: 'int32', operator: 'eq', value: 1 },
          { field: 'plays', type: 'int32', operator: 'eq', value: 2 },
        ],
      },
    ],
  ])('with %j are looked up by %s', (capabilities, name, expected) => {
    expect(pushKeys(declared(capabilities), field(name), ['1', '2'])).toEqual(expected)
  })

  it('are refused for a field that cannot be compared', () => {
    expect(messages(() => pushKeys(declared({ filter: {} }), field('plays'), ['1'])).at(-1)).toBe(
      'songs cannot be looked up by plays',
    )
  })

  it('are found in a filter, apart from the rest', () => {
    const rest = is('title', 'x')

    expect(keyFromFilter(collection, and([is('id', '7'), rest]))).toEqual({
      key: [{ field: field('id'), text: '7' }],
      rest,
    })
    expect(keyFromFilter(collection, is('id', '7', rest))).toEqual({ key: [{ field: field('id'), text: '7' }], rest })
    expect(keyFromFilter(collection, and([rest, and([is('id', '7'), rest])]))).toEqual({
      key: [{ field: field('id'), text: '7' }],
      rest: and([rest, rest]),
    })
    expect(keyFromFilter(collection, or([is('id', '7'), rest]))).toBeUndefined()
    expect(keyFromFilter(collection, rest)).toBeUndefined()
  })
})

describe('an order', () => {
  const by = (name: string, origin: 'requested' | 'tie', visible: Filter = all) =>
    ({ path: [], field: field(name), visible, direction: 'asc', nulls: 'last', origin }) as const

  it('is pushed down where it is declared, without what only makes it total', () => {
    expect(pushOrder(declared(), [by('title', 'requested'), by('id', 'tie')])).toEqual([
      { field: 'title', direction: 'asc', nulls: 'last' },
    ])
    expect(pushOrder(declared({ sort: ['id'] }), [by('id', 'tie')])).toEqual([
      { field: 'id', type: 'int32', direction: 'asc' },
    ])
    expect(pushOrder(declared({ sort: [] }), [by('id', 'tie')])).toBeUndefined()
    // Behind a term that is left out rows are in no order of the others.
    expect(pushOrder(declared({ sort: ['id'] }), [by('rank', 'tie'), by('id', 'tie')])).toBeUndefined()
  })

  it('is refused where it is not', () => {
    const expected = ['Failed to execute query', 'sort.rank', 'cannot be sorted by']

    expect(messages(() => pushOrder(declared(), [by('rank', 'requested')]))).toEqual(expected)
    expect(messages(() => pushOrder(declared(), [by('title', 'requested', is('id', '1'))])).at(1)).toBe('sort.title')
  })
})

it('refuses an operation that is not declared with code 4010', () => {
  const error = (() => {
    try {
      return requireOperation(declared(), 'updateOne', 'updateMany')
    } catch (thrown) {
      return thrown
    }
  })()

  expect(error).toMatchObject({ kind: 'invalid', code: '4010' })
  expect(messages(() => requireOperation(declared(), 'updateOne', 'updateMany'))).toEqual([
    'Failed to execute query',
    'Output validation failed',
    'Operation not supported',
    'songs does not declare updateOne or updateMany',
  ])
  expect(requireOperation(declared(), 'readOne', 'readMany')).toBe('readMany')
})

it.each(['constructor', '__proto__', 'toString'])('a field called %s has the operators that are declared', (dbName) => {
  const named = { ...field('title'), dbName }
  expect(operatorSupport({ ...everything, filter: {} }, named, 'eq')).toBeUndefined()

  expect(lookupOperator({ ...everything, filter: {} }, named)).toBeUndefined()
})
