/** The id of an account, as policies, filters and programs name it. */
import { CopyButton } from '../../ui/copy-button.tsx'
import page from '../page.module.css'

export function Identifier({ id }: { readonly id: string }) {
  return (
    <span class={page.row}>
      <code dir="ltr">{id}</code>
      <CopyButton text={id} isSecondary />
    </span>
  )
}
