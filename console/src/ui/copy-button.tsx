/** Copies a text, and says whether the browser allowed it. */
import { t } from '../messages/messages.ts'
import { Button } from './button.tsx'
import { showToast } from './toasts.tsx'

export function CopyButton({ text }: { readonly text: string }) {
  const texts = t.value.grid
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => showToast(texts.copied),
      () => showToast(texts.notCopied, 'danger'),
    )
  return (
    <Button look="primary" onClick={() => void copy()}>
      {texts.copy}
    </Button>
  )
}
