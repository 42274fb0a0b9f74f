/** Forms of a batch: operations that are planned once for many are what each of them would be alone. */
import { describe, expect, it } from 'vitest'
import { atOnce } from '../../../src/core/parts.ts'
import { type Form, formName, planForm } from '../../../src/core/plan/batch/form.ts'
import { type Operation, parseOperations } from '../../../src/core/plan/batch/operation.ts'
import { planBatch } from '../../../src/core/plan/batch/plan.ts'
import type { BatchPlan } from '../../../src/core/plan/plan.ts'
import { unbound } from '../../../src/core/query/placeholder.ts'
import type { Dialect } from '../../../src/core/sql/dialect.ts'
import { mariadb, mysql } from '../../../src/core/sql/mysql/dialect.ts'
import { postgres } from '../../../src/core/sql/postgres/dialect.ts'
import { type CompiledForms, compileBatch, requireRows } from '../../../src/core/sql/write/batch.ts'
import { build } from '../../support/data/build.ts'
import { answeredStatements } from '../../support/data/write-statements.ts'
import { contextOf, refusal, viewer } from './blog.ts'

const generators = { uuid: () => 'a-uuid', now: () => '2026-01-02T03:04:05.678Z' }
const everyone = viewer()
const model = build.model({ plain: { id: 'int64', name: 'string(5)?' } })
const collection = model.byName.get('plain')
if (collection === undefined) throw new Error('the collection is missing')
const opened = { collection, read: contextOf(collection) }

const shared = [
  { kind: 'create', data: [{ id: 1, name: 'Ada' }] },
  { kind: 'create', data: [{ id: 2, name: null }], fields: ['id'] },
  { kind: 'update', key: 1, data: { name: 'Bo' } },
  { kind: 'update', key: '2', data: { name: 'Cy' }, fields: ['name'] },
  { kind: 'update', key: 2, data: { id: 3 } },
  { kind: 'read', key: 3 },
  { kind: 'read', filter: { name: 'Bo' }, limit: 3, meta: 'totalCount' },
  { kind: 'delete', key: 1 },
  { kind: 'delete', key: 2, fields: ['id'] },
]
const alone = [
  { kind: 'create', data: [{ id: 7 }, { id: 8 }] },
  { kind: 'update', key: 3, data: { name: 'Bo' }, filter: { id: 3 } },
  { kind: 'delete', filter: { id: 3 } },
  { kind: 'upsert', data: [{ id: 3 }], conflict: { fields: ['id'], do: 'ignore' } },
  { kind: 'update', key: { $ref: 'nine[0].id' }, data: { name: 'Bo' } },
  { kind: 'update', key: 9, data: { id: { $ref: 'nine[0].id' } } },
]

/** As they were sent, twice, with other values the second time. */
function sent(round: number): readonly Operation[] {
  const nine = { kind: 'create', data: [{ id: 9, name: 'Ada' }], as: 'nine' }
  const moved = shared.map((one) => ('key' in one ? { ...one, key: Number(one.key) + round } : one))
  return parseOperations({ operations: [nine, ...moved, ...alone].map((one) => ({ ...one, collection: 'plain' })) })
}

function keptForms() {
  const forms = new Map<string, Form | undefined>()
  return {
    forms,
    formOf(operation: Operation): Form | undefined {
      const name = formName(operation)
      if (name === undefined) return undefined
      if (!forms.has(name)) forms.set(name, planForm({ viewer: everyone, generators, ...opened }, operation))
      return forms.get(name)
    },
  }
}

function planned(operations: readonly Operation[], formOf?: (operation: Operation) => Form | undefined) {
  const request = { viewer: everyone, generators, open: () => opened, most: 100, ...(formOf && { formOf }) }
  return atOnce(planBatch(request, operations))
}

describe.each([postgres, mariadb, mysql].map((dialect): [string, Dialect] => [dialect.title, dialect]))(
  'on %s',
  (_, dialect) => {
    it('has the statements that it would have alone, however often it is sent', () => {
      const forms: CompiledForms = new WeakMap()
      const { formOf } = keptForms()
      for (const round of [0, 1, 2]) {
        const operations = sent(round)

        expect(told(planned(operations, formOf), dialect, forms)).toEqual(told(planned(operations), dialect))
      }
    })

    it('has one text for operations that differ in values', () => {
      const { formOf } = keptForms()
      const operations = [1, 2, 3].flatMap((key) => [
        { kind: 'update', collection: 'plain', key, data: { name: `a${key}` } },
        { kind: 'read', collection: 'plain', key },
      ])
      const plan = planned(parseOperations({ operations }), formOf)
      const { operations: places, texts: all } = told(plan, dialect)

      const texts = (index: number) => all.flatMap(({ text }, place) => (places[place] === index ? [text] : []))
      expect(texts(2)).toEqual(texts(0))
      expect(texts(5)).toEqual(texts(1))
    })
  },
)

it('tells which operation of a form has found nothing, step by step', () => {
  const operations = [1, 2].map((key) => ({ kind: 'delete', collection: 'plain', key }))
  const plan = planned(parseOperations({ operations }), keptForms().formOf)
  const found = (key: string) => answeredStatements(plan, mysql, ({ params }) => (params.includes(key) ? [[key]] : []))

  expect(() => found('1')).toThrow('service:noRecord@1')
  expect(() => found('2')).toThrow('service:noRecord@0')
})

describe('where the driver hears answers before it commits', () => {
  const one = [
    { kind: 'create', data: [{ id: 1, name: 'Ada' }] },
    { kind: 'update', key: 1, data: { name: 'Bo' } },
    { kind: 'read', key: 1 },
    { kind: 'delete', key: 1 },
  ]
  const operations = parseOperations({ operations: one.map((each) => ({ ...each, collection: 'plain' })) })
  const plan = planned(operations, keptForms().formOf)
  const compiled = atOnce(compileBatch(plan, postgres, { isConfirmed: true }))

  it('demands no row in the statements of one', () => {
    const statements = compiled.statements(unbound)
    expect(statements).toHaveLength(one.length)
    for (const { text } of statements) expect(text).not.toMatch(/current_setting|set_config/)
  })

  it('demands the rows of keys in the answers, as far as there are any', () => {
    const found = [['[{}]']]
    const fault = (...answers: readonly (readonly unknown[])[]) => refusal(() => requireRows(plan, compiled, answers))

    expect(() => requireRows(plan, compiled, [found, found, found, found])).not.toThrow()
    expect(() => requireRows(plan, compiled, [[], found])).not.toThrow()
    expect(fault(found, [], found, [])).toContain('service:noRecord@1')
    expect(fault(found, found, [])).toContain('service:noRecord@2')
    expect(fault(found, found, found, [])).toContain('service:noRecord@3')
  })
})

/** A driver that gets the answer to each statement tells which one has failed, so that its text need not. */
function told(plan: BatchPlan, dialect: Dialect, forms: CompiledForms = new WeakMap()) {
  const { statements, ...places } =
    dialect.transaction === 'stepwise'
      ? answeredStatements(plan, dialect, undefined, forms)
      : allAtOnce(plan, dialect, forms)
  const texts = statements.map(({ text, params }) => ({ text: text.replaceAll(/@\d+'/g, "'"), params }))
  return { ...places, texts }
}

function allAtOnce(plan: BatchPlan, dialect: Dialect, forms: CompiledForms) {
  const { statements, ...places } = atOnce(compileBatch(plan, dialect, { forms }))
  return { ...places, statements: statements(unbound) }
}

it('is planned once for all operations that differ in values, and for no others', () => {
  const { forms, formOf } = keptForms()
  const values = [0, 1].map((round) => planned(sent(round), formOf).values.map((one) => one !== undefined))
  const isShared = [false, ...shared.map(() => true), ...alone.map(() => false)]

  expect(values).toEqual([isShared, isShared])
  expect([...forms.values()].filter((form) => form !== undefined)).toHaveLength(shared.length)
})

describe('a fault', () => {
  it.each([
    [{ kind: 'create', data: [{ id: 1, name: 7 }] }, 'data[0].name'],
    [{ kind: 'create', data: [{ id: 1, nam: 7 }] }, 'data[0].nam'],
    [{ kind: 'create', data: [{ name: 'Ada' }] }, 'data[0].id'],
    [{ kind: 'update', key: 'x', data: { name: 7 } }, 'key'],
    [{ kind: 'update', key: 1, data: { name: 7 } }, 'data.name'],
    [{ kind: 'read', key: {} }, 'key'],
    [{ kind: 'delete', key: 'x' }, 'key'],
    [{ kind: 'read', key: 1, fields: ['nam'] }, 'fields'],
    [{ kind: 'read', meta: 'totalEstimate' }, 'meta'],
  ])('is what it is alone: %j', (operation, place) => {
    const { formOf } = keptForms()
    const good = planned(sent(0), formOf)
    const operations = parseOperations({ operations: [{ ...operation, collection: 'plain' }] })

    expect(good.operations).toHaveLength(sent(0).length)
    const expected = refusal(() => planned(operations))
    expect(expected).toContain(place)
    expect(refusal(() => planned(operations, formOf))).toBe(expected)
  })
})
