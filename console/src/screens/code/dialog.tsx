/** The request of what a screen shows, to be pasted elsewhere, and how an agent is connected. */
import { useState } from 'preact/hooks'
import { useQuery } from '../../data/queries.ts'
import { accessQuery } from '../../data/workspaces.ts'
import { t } from '../../messages/messages.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import page from '../page.module.css'
import styles from './code.module.css'
import { codeOf, type Kind, kindsOf } from './kinds.ts'
import type { CodeRequest } from './request.ts'

type CodeDialogProps = { readonly request: CodeRequest; readonly kind: Kind; readonly onClose: () => void }

export default function CodeDialog({ request, kind: first, onClose }: CodeDialogProps) {
  const texts = t.value.code
  const [kind, setKind] = useState<Kind>(first)
  const { workspace } = request
  const code = codeOf(kind, request)
  return (
    <Dialog title={texts.title} onClose={onClose} isWide>
      <div class={`${page.row} ${styles.kinds}`}>
        {kindsOf(request).map((name) => (
          <Button key={name} aria-pressed={name === kind} onClick={() => setKind(name)}>
            {texts.kinds[name]}
          </Button>
        ))}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is scrolled by keys as well */}
      <section class={styles.code} tabIndex={0} aria-label={texts.kinds[kind]}>
        <pre dir="ltr">{code}</pre>
      </section>
      {kind === 'agent' && workspace ? <AgentText workspace={workspace} /> : <p class={page.quiet}>{texts.text}</p>}
      <DialogActions>
        {workspace && <Explorer workspace={workspace} />}
        <CopyButton text={code} />
      </DialogActions>
    </Dialog>
  )
}

function AgentText({ workspace }: { readonly workspace: string }) {
  const { data: access } = useQuery(accessQuery(workspace))
  const texts = t.value.code
  return (
    <div class={page.stack}>
      <p class={page.quiet}>
        {texts.agentText} <a href="/-/account">{texts.agentKey}</a>
      </p>
      {access?.entitlements.includes('ai:mcp') === false && <p class={page.quiet}>{texts.agentRefused}</p>}
    </div>
  )
}

/** All requests of the workspace, to be tried: for those who may read what describes them. */
function Explorer({ workspace }: { readonly workspace: string }) {
  const { data: access } = useQuery(accessQuery(workspace))
  if (access?.entitlements.includes('openApiSchema:read') !== true) return null
  return (
    <a class={styles.explorer} href={`/api/${encodeURIComponent(workspace)}/docs`} target="_blank" rel="noreferrer">
      {t.value.code.explorer}
    </a>
  )
}
