/**
 * What is derived from a caller's rights on a model: their merged policies, and the reads that they asked before, planned
 * and compiled. Kept beside the two objects, so that new rights or a new model start with nothing.
 */
import type { Viewer } from '../../core/access/access.ts'
import { viewerOf } from '../../core/access/merge.ts'
import type { Rights } from '../../core/access/principal.ts'
import type { Model } from '../../core/model/model.ts'
import { type ReadQuery, withBlanks } from '../../core/query/parse.ts'
import { type Blanks, fillBlank, splitQuestion } from '../../core/query/question.ts'
import type { Fill } from '../../core/sql/statement.ts'
import type { Freshness } from '../../sources/source.ts'

/** The query of a request: its text names it, and it is parsed only where that text, or its shape, is new. */
export type AskedQuery = {
  readonly text: string
  /** Reads the text, or its shape. */
  readonly parse: (text: string) => ReadQuery
  readonly freshness: Freshness
  /** Whether nobody waits for the answer any more, where the front door can know. */
  hasLeft?(): boolean
  /** Told when it is clear what to ask the source. */
  planned?(): void
}

export type PreparedReads = {
  /** What `make` made of `question` earlier, or makes now. Nothing is kept where it throws. */
  get<T>(rights: Rights, model: Model, question: string, make: () => T): T
  /** The same for all queries of one shape; the values of this one are filled in when it runs. */
  getShaped<T>(rights: Rights, model: Model, asked: Shaped<T>): { readonly made: T; readonly fill: Fill }
}

type Shaped<T> = {
  /** What is asked, but for the query. */
  readonly question: string
  readonly query: AskedQuery
  readonly make: (query: ReadQuery) => T
  /** Fills what the query does not. */
  readonly fill: Fill
}

/** `unfit` where each query of the shape has to be planned for itself. */
type Shape<T> = { readonly made: T; readonly blanks: Blanks } | 'unfit'

const MAX_QUESTIONS = 2_000
const MAX_LENGTH = 2_000

export function createPreparedReads(): PreparedReads {
  const prepared = besideBoth(() => new Map<string, unknown>())

  function get<T>(rights: Rights, model: Model, question: string, make: () => T): T {
    const known = prepared(rights, model)
    const earlier = known.get(question) as T | undefined
    if (earlier !== undefined) return earlier
    const made = make()
    if (question.length > MAX_LENGTH) return made
    if (known.size >= MAX_QUESTIONS) known.clear()
    known.set(question, made)
    return made
  }

  return {
    get,
    getShaped<T>(rights: Rights, model: Model, { question, query, make, fill }: Shaped<T>) {
      const split = splitQuestion(query.text)
      if (split.values.length > 0) {
        const shape = get<Shape<T>>(rights, model, `shape ${question} ${split.shape}`, () => {
          const blanks: Blanks = { readers: new Map(), isUnfit: false }
          const made = make(withBlanks(query.parse(split.shape), blanks))
          return blanks.isUnfit ? 'unfit' : { made, blanks }
        })
        if (shape !== 'unfit') {
          return { made: shape.made, fill: (name) => fillBlank(name, split, shape.blanks) ?? fill(name) }
        }
      }
      return { made: get(rights, model, `${question} ${query.text}`, () => make(query.parse(query.text))), fill }
    },
  }
}

export function createViewers(): { of(rights: Rights, model: Model): Viewer } {
  return { of: besideBoth(viewerOf) }
}

/** One value for each pair, for as long as both objects live. */
function besideBoth<T>(make: (rights: Rights, model: Model) => T): (rights: Rights, model: Model) => T {
  const byModel = new WeakMap<Model, WeakMap<Rights, T>>()
  return (rights, model) => {
    const byRights = byModel.get(model) ?? new WeakMap<Rights, T>()
    byModel.set(model, byRights)
    const known = byRights.get(rights)
    if (known !== undefined) return known
    const made = make(rights, model)
    byRights.set(rights, made)
    return made
  }
}
