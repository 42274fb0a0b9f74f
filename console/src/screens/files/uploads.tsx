/** Choosing and dropping files, and how far those are that were begun here. */
import type { FileItem } from 'governed-data-client/files'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { type Upload, upload, uploads } from '../../data/files.ts'
import { explainFault } from '../../messages/fault.ts'
import { t } from '../../messages/messages.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import page from '../page.module.css'
import styles from './files.module.css'
import { sizeText } from './size.ts'

type UploadButtonProps = {
  readonly label?: string
  readonly look?: 'primary'
  readonly isMany?: boolean
  readonly isBusy?: boolean
  readonly onFiles: (files: readonly File[]) => void
  readonly children: ComponentChildren
}

/** Opens the browser's own dialog. */
export function UploadButton({ label, look, isMany = false, isBusy = false, onFiles, children }: UploadButtonProps) {
  const ref = useRef<HTMLInputElement>(null)
  return (
    <>
      <Button {...(look && { look })} aria-label={label} isBusy={isBusy} onClick={() => ref.current?.click()}>
        {children}
      </Button>
      <input
        ref={ref}
        type="file"
        hidden
        multiple={isMany}
        onChange={({ currentTarget }) => {
          const chosen = [...(currentTarget.files ?? [])]
          currentTarget.value = ''
          if (chosen.length > 0) onFiles(chosen)
        }}
      />
    </>
  )
}

/** Takes what is dropped anywhere on the page, while the component is there. Tells whether something is held over it. */
export function useDrop(isOpen: boolean, onFiles: (files: readonly File[]) => void): boolean {
  const [isOver, setOver] = useState(false)
  const taking = useRef(onFiles)
  taking.current = onFiles
  useEffect(() => {
    if (!isOpen) return undefined
    const ended = new AbortController()
    const on = (name: 'dragover' | 'dragleave' | 'drop', listen: (event: DragEvent) => void) =>
      addEventListener(name, listen, { signal: ended.signal })
    on('dragover', (event) => {
      if (!event.dataTransfer?.types.includes('Files')) return
      // Without it the browser opens what is dropped in place of the page.
      event.preventDefault()
      setOver(true)
    })
    on('dragleave', (event) => {
      if (event.relatedTarget === null) setOver(false)
    })
    on('drop', (event) => {
      setOver(false)
      const dropped = [...(event.dataTransfer?.files ?? [])]
      if (dropped.length === 0) return
      event.preventDefault()
      taking.current(dropped)
    })
    return () => ended.abort()
  }, [isOpen])
  return isOver
}

/** Begins the uploads of a place; `onDone` is called with each file. */
export function uploadAll(
  workspace: string,
  place: string,
  chosen: readonly File[],
  onDone?: (item: FileItem) => void,
): void {
  for (const file of chosen) upload(workspace, place, file, onDone)
}

export function Uploads({ place }: { readonly place: string }) {
  const shown = uploads.value.filter((one) => one.place === place)
  if (shown.length === 0) return null
  return (
    <ul class={styles.uploads} aria-label={t.value.files.uploads}>
      {shown.map((one) => (
        <One key={one.id} {...one} />
      ))}
    </ul>
  )
}

function One({ name, sent, total, state, error, goOn, cancel }: Upload) {
  const texts = t.value.files
  return (
    <li>
      <span class={styles.name} dir="auto">
        {name}
      </span>
      {state !== 'failed' && <progress aria-label={texts.progress(name)} max={Math.max(total, 1)} value={sent} />}
      <span class={state === 'failed' ? page.wrong : page.quiet} role={state === 'failed' ? 'alert' : 'status'}>
        {state === 'failed' && error && explainFault(error)}
        {state === 'waiting' && texts.waiting}
        {state === 'running' && texts.sentOf(sizeText(sent), sizeText(total))}
      </span>
      {state === 'failed' && <Button onClick={goOn}>{texts.goOn}</Button>}
      <Button look="plain" isIcon aria-label={texts.cancel(name)} onClick={cancel}>
        <Icon name="close" />
      </Button>
    </li>
  )
}
