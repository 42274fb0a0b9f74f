/** A small model for the tests of plans, and callers of it. */
import {
  type Access,
  type Action,
  denied,
  fullAccess,
  type Granted,
  granted,
  type Viewer,
} from '../../../src/core/access/access.ts'
import type { Collection, PrimitiveField, RelationField } from '../../../src/core/model/model.ts'
import type { ReadContext } from '../../../src/core/plan/read.ts'
import { all, type Filter } from '../../../src/core/query/filter.ts'
import { build } from '../../support/data/build.ts'

export const blog = build.model(
  {
    authors: { id: 'int64', name: 'string(10)', tags: 'string[]' },
    articles: { id: 'int64', title: 'string', authorId: 'int64?', editorId: 'int64', parentId: 'int64?' },
  },
  [
    'articles.author(authorId) -> authors.articles',
    'articles.editor(editorId) -> authors.edited',
    'articles.parent(parentId) -> articles',
  ],
)

export const authors = collection('authors')
export const articles = collection('articles')
export const author = relation(articles, 'author')
export const editor = relation(articles, 'editor')
export const parent = relation(articles, 'parent')

export function column({ fields }: Collection, name: string): PrimitiveField {
  const field = fields.get(name)
  if (field?.kind === 'primitive') return field
  throw new Error(`${name} is no column`)
}

export function relation({ fields }: Collection, name: string): RelationField {
  const field = fields.get(name)
  if (field?.kind === 'relation') return field
  throw new Error(`${name} is no relation`)
}

/** Reads only some fields, and only the rows of a filter. */
export function only(names: readonly string[], { apiName, fields }: Collection, rows: Filter = all): Granted {
  const ids = names.map((name) => fields.get(name)?.id ?? `${apiName}.${name}`)
  return granted([{ rows, fields: new Set(ids), validation: all }])
}

/** A caller with these rights; what is not named is open for whoever sees the model, and closed for others. */
export function viewer(rights: Readonly<Record<string, Access>> = {}, { seesModel = true } = {}): Viewer {
  return {
    accessTo: ({ apiName }, action: Action) =>
      rights[`${apiName}.${action}`] ?? rights[apiName] ?? (seesModel ? fullAccess : denied),
    seesModel,
  }
}

/** A read by somebody who may do everything. */
export function contextOf(of: Collection): ReadContext {
  return {
    viewer: viewer(),
    collection: of,
    access: fullAccess,
    limits: { default: 100, max: 1_000 },
    maxRows: Number.POSITIVE_INFINITY,
  }
}

/** All that the error says which `run` throws, the outermost first. */
export function refusal(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    const texts: string[] = []
    for (let at = error; at instanceof Error; at = at.cause) texts.push(at.message)
    return texts.join(': ')
  }
  throw new Error('it was not refused')
}

function collection(name: string): Collection {
  const found = blog.byName.get(name)
  if (found === undefined) throw new Error(`${name} is no collection`)
  return found
}
