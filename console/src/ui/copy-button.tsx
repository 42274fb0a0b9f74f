/** Copies a text, and says whether the browser allowed it. */
import { t } from '../messages/messages.ts'
import { Button } from './button.tsx'
import { showToast } from './toasts.tsx'

type CopyProps = { readonly text: string; readonly look?: 'primary' | 'plain' }

export function CopyButton({ text, look = 'primary' }: CopyProps) {
  const texts = t.value.grid
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => showToast(texts.copied),
      () => showToast(texts.notCopied, 'danger'),
    )
  return (
    <Button look={look} onClick={() => void copy()}>
      {texts.copy}
    </Button>
  )
}
