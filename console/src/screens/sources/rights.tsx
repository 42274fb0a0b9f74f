/** What takes a right that somebody may lack: shown with its reason where it is not there. */
import type { ComponentChildren } from 'preact'
import { useQuery } from '../../data/queries.ts'
import { accessQuery } from '../../data/workspaces.ts'
import { t } from '../../messages/messages.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { Notice, Pending } from '../../ui/notice.tsx'
import page from '../page.module.css'

type RightsProps = { readonly workspace: string; readonly rights: readonly string[] }

/** Those that the caller lacks; undefined until that is known. */
export function useLacking({ workspace, rights }: RightsProps): readonly string[] | undefined {
  const { data: access } = useQuery(accessQuery(workspace))
  return access && rights.filter((right) => !access.entitlements.includes(right))
}

export function useEntitled(workspace: string, ...rights: readonly string[]): boolean {
  return useLacking({ workspace, rights })?.length === 0
}

export function Entitled({ workspace, rights, children }: RightsProps & { readonly children: ComponentChildren }) {
  const { data, error, refetch } = useQuery(accessQuery(workspace))
  const lacking = useLacking({ workspace, rights })
  if (lacking === undefined) {
    return <Pending data={data} error={error} onRetry={() => void refetch()} lines={4} />
  }
  if (lacking.length > 0) return <Notice>{t.value.palette.takes(lacking.join(', '))}</Notice>
  return children
}

type LinkProps = RightsProps & { readonly href: string; readonly label: string }

/** A way on, or why there is none. */
export function EntitledLink({ workspace, rights, href, label }: LinkProps) {
  const lacking = useLacking({ workspace, rights })
  if (lacking === undefined) return null
  if (lacking.length > 0) return <span class={page.quiet}>{t.value.palette.takes(lacking.join(', '))}</span>
  return (
    <ButtonLink look="primary" href={href}>
      {label}
    </ButtonLink>
  )
}
