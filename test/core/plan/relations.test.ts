import { describe, expect, it } from 'vitest'
import { fullAccess } from '../../../src/core/access/access.ts'
import type { RelationField } from '../../../src/core/model/model.ts'
import { planList } from '../../../src/core/plan/read.ts'
import {
  crossSourceConditions,
  isLookupColumn,
  lookupColumn,
  lookupKeyOf,
  splitSelection,
  withConditions,
  withSelection,
} from '../../../src/core/plan/relations.ts'
import { parseBrackets } from '../../../src/core/query/brackets.ts'
import { parseListQuery } from '../../../src/core/query/parameters.ts'
import { articles, author, authors, column, contextOf, viewer } from './blog.ts'

const isLocal = (relation: RelationField) => relation.target === articles
const list = (search: string) =>
  planList({ ...contextOf(articles), access: fullAccess, viewer: viewer() }, parseListQuery(parseBrackets(search)))

describe('a selection', () => {
  it('that a source can serve by itself is whole', () => {
    const { selection } = list('fields=title,parent.title')

    expect(splitSelection(selection, isLocal)).toMatchObject({
      isWhole: true,
      local: selection,
      parts: [
        { kind: 'own', name: 'title' },
        { kind: 'own', name: 'parent' },
      ],
    })
  })

  it('with far rows is served without them, but with the columns that lead there', () => {
    const { local, parts, isWhole } = splitSelection(list('fields=author.name,title').selection, isLocal)

    expect(isWhole).toBe(false)
    expect(parts.map(({ kind }) => kind)).toEqual(['own', 'elsewhere'])
    expect(parts[1]).toMatchObject({ columns: [local[1]?.name] })
    expect(local[1]).toMatchObject({ kind: 'field', field: column(articles, 'authorId') })
    expect(local.map(({ name }) => isLookupColumn(name))).toEqual([false, true])
  })

  it('misses far rows within near ones as well', () => {
    const { parts } = splitSelection(list('fields=parent.author.name').selection, isLocal)

    expect(parts).toMatchObject([{ kind: 'within', name: 'parent', isList: false, split: { isWhole: false } }])
  })
})

it('a far row is found again by its key', () => {
  const selected = lookupColumn(column(authors, 'id'))

  expect(isLookupColumn(selected.name)).toBe(true)
  expect(lookupKeyOf(new Map([[selected.name, '7']]))).toBe('7')
})

describe('conditions on far rows', () => {
  const plan = list('fields=title&filter[_and][0][author][name][_eq]=a&filter[_and][1][title][_eq]=b')
  const found = crossSourceConditions(plan, isLocal)

  it('are found wherever they stand, and near ones are not', () => {
    expect(found.map(({ relation }) => relation)).toEqual([author])
    expect(crossSourceConditions(plan, () => true)).toEqual([])
  })

  it('are replaced in place', () => {
    const [condition] = found
    const replaced = withConditions(plan, new Map(condition === undefined ? [] : [[condition, { kind: 'none' }]]))

    expect(crossSourceConditions(replaced, isLocal)).toEqual([])
    expect(JSON.stringify(replaced.where)).toContain('{"kind":"none"}')
    expect(withConditions(plan, new Map())).toBe(plan)
  })
})

it('a plan may answer something else', () => {
  const plan = list('fields=title')

  expect(withSelection(plan, [])).toEqual({ ...plan, selection: [] })
})
