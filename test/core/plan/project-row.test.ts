import { expect, it } from 'vitest'
import type { Selection } from '../../../src/core/plan/plan.ts'
import { projectedFields, projectRow } from '../../../src/core/plan/project-row.ts'
import type { Row } from '../../../src/core/query/evaluate.ts'
import { articles, column } from './blog.ts'

const id = column(articles, 'id')
const title = column(articles, 'title')
const isFirst = { kind: 'compare', field: id, visible: { kind: 'all' }, operator: '=', operand: '1' } as const
const selection: Selection = [
  { kind: 'field', name: 'id', field: id, visible: { kind: 'all' } },
  { kind: 'field', name: 'title', field: title, visible: isFirst },
]

it('a row has what was selected, in its form on the wire, and null where it is not visible', () => {
  const rowOf =
    (key: string): Row =>
    ({ apiName }) =>
      apiName === 'id' ? key : 'a'

  expect(projectRow(selection, rowOf('1'))).toMatchObject({ title: 'a' })
  expect(projectRow(selection, rowOf('2'))).toMatchObject({ title: null })
})

it('what decides about a value is asked for, too', () => {
  expect(projectedFields(selection)).toEqual([id, title, id])
})
