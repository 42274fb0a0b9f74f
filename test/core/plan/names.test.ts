import { describe, expect, it } from 'vitest'
import { denied, fullAccess } from '../../../src/core/access/access.ts'
import {
  Forbidden,
  fieldEquals,
  openCollection,
  readableField,
  relatedAccess,
  usableField,
  writeAccess,
} from '../../../src/core/plan/names.ts'
import { articles, author, authors, blog, column, only, refusal, viewer } from './blog.ts'

const outsider = viewer({}, { seesModel: false })

describe('a collection', () => {
  it('is opened with what the caller may do there', () => {
    expect(openCollection(blog, viewer(), 'articles', 'read')).toEqual({ collection: articles, access: fullAccess })
  })

  it('that does not exist is told to whoever reads the model, with what may be meant', () => {
    expect(refusal(() => openCollection(blog, viewer(), 'article', 'read'))).toMatch(/does not exist.*articles/)
  })

  it('that is hidden is never meant', () => {
    const caller = viewer({ articles: denied })

    expect(refusal(() => openCollection(blog, caller, 'article', 'read'))).not.toMatch(/articles/)
  })

  it.each(['articles', 'nothing'])('hidden or missing, %s is one and the same to anybody else', (name) => {
    expect(() => openCollection(blog, outsider, name, 'read')).toThrow(Forbidden)
  })

  it('at the far end of a relation is hidden where it may not be read', () => {
    expect(relatedAccess(viewer(), authors)).toBe(fullAccess)
    expect(() => relatedAccess(outsider, authors)).toThrow(Forbidden)
  })

  it('takes no writes where it is read-only, which is told only to whoever may write it', () => {
    const view = { ...articles, isReadOnly: true }

    expect(writeAccess(viewer(), articles, 'update')).toBe(fullAccess)
    expect(refusal(() => writeAccess(viewer(), view, 'update'))).toMatch(/articles: is read-only/)
    expect(() => writeAccess(outsider, view, 'update')).toThrow(Forbidden)
  })
})

describe('a field', () => {
  it('is found by its name, with where it is visible', () => {
    const title = column(articles, 'title')

    expect(
      usableField({ viewer: viewer(), collection: articles, action: 'read', access: fullAccess }, 'title', 'fields'),
    ).toEqual({
      field: title,
      visible: { kind: 'all' },
    })
  })

  it('that does not exist is told to whoever reads the model, with what may be meant', () => {
    expect(
      refusal(() =>
        usableField({ viewer: viewer(), collection: articles, action: 'read', access: fullAccess }, 'tilte', 'fields'),
      ),
    ).toMatch(/is not a field of articles.*title/)
  })

  it('that is hidden, or missing, is one and the same to anybody else, who is told no name', () => {
    const access = only(['id'], articles)

    const forbiddenFor = (name: string) =>
      refused(() => usableField({ viewer: outsider, collection: articles, action: 'read', access }, name, 'fields'))

    expect([forbiddenFor('title'), forbiddenFor('nothing')]).toEqual(
      ['title', 'nothing'].map((field) => new Forbidden({ collectionId: articles.id, action: 'read', field })),
    )
  })

  it('is never meant where it is hidden', () => {
    const access = only(['id'], articles)

    expect(
      refusal(() =>
        usableField(
          { viewer: viewer({ articles: access }), collection: articles, action: 'read', access },
          'titel',
          'fields',
        ),
      ),
    ).not.toMatch(/title/)
  })

  it('that is a relation into a hidden collection is not readable, though it may be written', () => {
    const caller = viewer({ authors: denied })

    expect(
      usableField({ viewer: caller, collection: articles, action: 'read', access: fullAccess }, 'author', 'fields')
        .field,
    ).toBe(author)
    expect(() => readableField(caller, articles, fullAccess, 'author', 'fields')).toThrow(Forbidden)
    expect(readableField(viewer(), articles, fullAccess, 'author', 'fields').field).toBe(author)
  })

  it('is compared where it is visible', () => {
    const field = column(articles, 'title')
    const visible = { kind: 'none' } as const

    expect(fieldEquals(field, visible, 'Lamp')).toEqual({
      kind: 'compare',
      field,
      visible,
      operator: '=',
      operand: 'Lamp',
    })
  })
})

function refused(run: () => unknown): unknown {
  try {
    return run()
  } catch (error) {
    return error
  }
}
