/**
 * Short messages that come by themselves, above everything else; failures stay until they are closed. The screen ends above them,
 * so that they cover nothing: `--toasts` is the height that they take of it.
 */
import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { t } from '../messages/messages.ts'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'
import styles from './notice.module.css'
import { Notice } from './notice.tsx'

type Toast = { readonly id: number; readonly text: string; readonly look: 'good' | 'danger' }

const toasts = signal<readonly Toast[]>([])
let last = 0

const SHOWN_FOR = 6_000

export function showToast(text: string, look: Toast['look'] = 'good'): void {
  last += 1
  const id = last
  // What was done before is known by now; a failure is told once.
  const others = toasts.value.filter((one) => (one.look === 'good' ? look !== 'good' : one.text !== text))
  toasts.value = [...others.slice(-3), { id, text, look }]
  if (look === 'good') setTimeout(() => dismiss(id), SHOWN_FOR)
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id)
}

export function Toasts() {
  const ref = useRef<HTMLElement>(null)
  const shown = toasts.value
  // Opened anew it lies above a dialog that was opened meanwhile.
  useEffect(() => {
    ref.current?.hidePopover()
    if (shown.length > 0) ref.current?.showPopover()
  }, [shown])
  useEffect(() => {
    const toasts = ref.current
    if (toasts === null) return
    const observer = new ResizeObserver(() => {
      const { height, top } = toasts.getBoundingClientRect()
      document.documentElement.style.setProperty('--toasts', height > 0 ? `${innerHeight - top}px` : '0px')
      const { activeElement } = document
      const cell = document.getElementById(activeElement?.getAttribute('aria-activedescendant') ?? '')
      const inUse = cell ?? activeElement?.closest('input, select, textarea')
      inUse?.scrollIntoView({ block: 'nearest' })
    })
    observer.observe(toasts)
    return () => observer.disconnect()
  }, [])
  return (
    <section ref={ref} popover="manual" class={styles.toasts} aria-label={t.value.shell.notifications}>
      {shown.map(({ id, text, look }) => (
        <Notice
          key={id}
          look={look}
          action={
            <Button look="plain" isIcon aria-label={t.value.shell.dismiss} onClick={() => dismiss(id)}>
              <Icon name="close" />
            </Button>
          }
        >
          {text}
        </Notice>
      ))}
    </section>
  )
}
