/** What databases of a family lack: one table, held to the service by test/core/console-model.test.ts. */
import { type Action, type Collection, type Model, referentialActions } from './records.ts'

export type Family = {
  /** Types that it has no column for. */
  readonly lacks: readonly string[]
  readonly hasLists: boolean
  /** Whether it stores decimals, and has keys that are texts, within bounds alone. */
  readonly needsBounds: boolean
  /** What it does where what a row refers to goes. */
  readonly actions: readonly Action[]
}

const postgres: Family = {
  lacks: ['int8', 'uint8', 'uint16', 'uint32', 'uint64', 'geometry'],
  hasLists: true,
  needsBounds: false,
  actions: referentialActions,
}
const mysql: Family = {
  lacks: [],
  hasLists: false,
  needsBounds: true,
  actions: referentialActions.filter((action) => action !== 'setDefault'),
}
const families: Readonly<Record<string, Family>> = {
  postgres,
  neon: postgres,
  mysql,
  mariadb: mysql,
  planetscale: mysql,
}

const providerOf = ({ sources }: Sources, sourceId: string) => sources.find(({ id }) => id === sourceId)?.provider ?? ''

/** Of the database that has the tables of a source; what is no database makes none. */
export function familyOf(model: Sources, sourceId: string): Family {
  return families[providerOf(model, sourceId)] ?? postgres
}

type Sources = Pick<Model, 'sources'>
type Place = Pick<Collection, 'sourceId' | 'isView'>

/** Whether a database enforces a relation between the two: only then something is done where what they refer to goes. */
export function isHeld(model: Sources, one: Place, other: Place): boolean {
  const isOfDatabase = Object.hasOwn(families, providerOf(model, one.sourceId))
  return isOfDatabase && one.sourceId === other.sourceId && !one.isView && !other.isView
}
