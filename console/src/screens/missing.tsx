/** What an address shows that leads to nothing, and the way back. */
import { pathTo } from '../app/router.ts'
import { t } from '../messages/messages.ts'
import { ButtonLink } from '../ui/button.tsx'
import { Empty } from '../ui/notice.tsx'

/** Within a workspace, or nowhere. */
export function Missing({ workspace }: { readonly workspace?: string }) {
  const { shell } = t.value
  return (
    <Empty isScreen title={shell.notFound} text={shell.notFoundText}>
      {workspace === undefined ? (
        <ButtonLink href="/">{shell.home}</ButtonLink>
      ) : (
        <ButtonLink href={pathTo(workspace)}>{shell.toWorkspace(workspace)}</ButtonLink>
      )}
    </Empty>
  )
}
