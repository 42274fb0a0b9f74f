/** The assistant beside the screens of a workspace: whether it is open, and the button that opens it. */
import { signal } from '@preact/signals'
import { useQuery } from '../data/queries.ts'
import { accessQuery } from '../data/workspaces.ts'
import { t } from '../messages/messages.ts'
import { Button } from '../ui/button.tsx'
import { lazy } from './lazy.tsx'

const Panel = lazy(() => import('../screens/assistant.tsx'))

export const isAssistantOpen = signal(false)

export function openAssistant(): void {
  isAssistantOpen.value = true
}

function toggle(): void {
  isAssistantOpen.value = !isAssistantOpen.value
}

/** For whoever may have an agent act for them. */
export function AssistantButton({ workspace }: { readonly workspace: string }) {
  const { data } = useQuery(accessQuery(workspace))
  if (data?.entitlements.includes('ai:mcp') !== true) return null
  return (
    <Button tool="chat" aria-expanded={isAssistantOpen.value} onClick={toggle}>
      {t.value.shell.assistant}
    </Button>
  )
}

export function AssistantPanel({ workspace }: { readonly workspace: string }) {
  return <Panel workspace={workspace} onClose={toggle} />
}
