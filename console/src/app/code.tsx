/** The code of what a screen shows: a button of the screen, and the dialog that it opens, loaded then. */
import { signal } from '@preact/signals'
import { t } from '../messages/messages.ts'
import type { Kind } from '../screens/code/kinds.ts'
import type { CodeRequest } from '../screens/code/request.ts'
import { Button } from '../ui/button.tsx'
import { lazy } from './lazy.tsx'
import { pathTo } from './router.ts'

const CodeDialog = lazy(() => import('../screens/code/dialog.tsx'))

const shown = signal<{ readonly request: CodeRequest; readonly kind: Kind } | undefined>(undefined)

export function showCode(request: CodeRequest, kind: Kind = 'curl'): void {
  shown.value = { request, kind }
}

/** Of what there is in a workspace, as its own screen shows it. */
export function accessRequest(workspace: string): CodeRequest {
  return { workspace, path: pathTo(workspace, 'access'), query: {}, call: ['workspace', 'access'] }
}

type CodeProps = {
  /** As it is now, with what is typed and not saved. */
  readonly request: () => CodeRequest
}

export function CodeButton({ request }: CodeProps) {
  return (
    <Button tool="code" aria-haspopup="dialog" onClick={() => showCode(request())}>
      {t.value.code.title}
    </Button>
  )
}

export function Code() {
  if (shown.value === undefined) return null
  const close = () => {
    shown.value = undefined
  }
  return <CodeDialog {...shown.value} onClose={close} />
}
