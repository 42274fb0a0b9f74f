/** Ways from what somebody sees, or was refused, to why that is so: about oneself, until another is chosen. */
import type { ServiceError } from 'governed-data-client'
import { pathTo } from '../../app/router.ts'
import { useQuery } from '../../data/queries.ts'
import { userId } from '../../data/session.ts'
import { accessQuery } from '../../data/workspaces.ts'
import { t } from '../../messages/messages.ts'
import { ButtonLink } from '../../ui/button.tsx'
import type { Action } from './content.ts'

/** `who` is `user:` or `role:` with an id, or `anonymous`; `key` is a JSON text, or the text of a single key. */
export type Question = {
  readonly who: string
  readonly collection: string
  readonly action: Action
  readonly field: string
  readonly key: string
}

export function whyPath(workspace: string, question: Partial<Question>): string {
  return `${pathTo(workspace, 'access', 'why')}?${new URLSearchParams(question)}`
}

/** How the key of an item stands in a question. */
export function keyTextOf(names: readonly string[], key: readonly unknown[]): string {
  if (names.length === 1) return String(key[0])
  return JSON.stringify(Object.fromEntries(names.map((name, at) => [name, key[at]])))
}

/** The address of a question about oneself; undefined where the API does not let the caller ask. */
export function useWhy(workspace: string): ((question: Partial<Question>) => string) | undefined {
  const { data: access } = useQuery(accessQuery(workspace))
  const me = userId.value
  if (me === '' || !access?.entitlements.includes('workspaceMembers:read')) return undefined
  return (question) => whyPath(workspace, { who: `user:${me}`, ...question })
}

type RefusedProps = {
  readonly workspace: string
  readonly error: ServiceError | undefined | null
  readonly question: Partial<Question>
}

/** Beside a fault: why, where it was for lack of rights. */
export function WhyRefused({ workspace, error, question }: RefusedProps) {
  const why = useWhy(workspace)
  if (why === undefined || error?.status !== 403) return null
  return (
    <ButtonLink look="plain" href={why(question)}>
      {t.value.item.why}
    </ButtonLink>
  )
}
