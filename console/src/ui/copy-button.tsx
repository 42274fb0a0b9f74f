/** Copies a text, and says whether the browser allowed it. */
import { t } from '../messages/messages.ts'
import { Button } from './button.tsx'
import { showToast } from './toasts.tsx'

type CopyProps = {
  readonly text: string
  /** Where something else is what a dialog is for. */
  readonly isSecondary?: boolean
}

export function CopyButton({ text, isSecondary = false }: CopyProps) {
  const texts = t.value.grid
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => showToast(texts.copied),
      () => showToast(texts.notCopied, 'danger'),
    )
  return (
    <Button look={isSecondary ? undefined : 'primary'} onClick={() => void copy()}>
      {texts.copy}
    </Button>
  )
}
