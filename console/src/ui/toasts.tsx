/**
 * Short messages that come by themselves, above everything else; failures stay until they are closed. Nothing changes its size for
 * them: what scrolls has room at its end, `--toasts`, for what they lie on.
 */
import { signal } from '@preact/signals'
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks'
import { t } from '../messages/messages.ts'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'
import styles from './notice.module.css'
import { Notice } from './notice.tsx'

type Toast = { readonly id: number; readonly text: string; readonly look: 'good' | 'danger' }

const toasts = signal<readonly Toast[]>([])
/** The screen and the dialogs on it: all but the last are inert, where nothing is read out or can be pressed. */
const layers = signal<readonly string[]>([])
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
  const id = useId()
  useLayoutEffect(() => {
    // What was done before a dialog is known by now.
    if (layers.value.length > 0) toasts.value = toasts.value.filter(({ look }) => look !== 'good')
    layers.value = [...layers.value, id]
    return () => {
      layers.value = layers.value.filter((layer) => layer !== id)
    }
  }, [id])
  return layers.value.at(-1) === id ? <Shown /> : null
}

function Shown() {
  const ref = useRef<HTMLElement>(null)
  const left = useRef<EventTarget | null>(null)
  const shown = toasts.value
  // Opened anew it lies above a menu that was opened meanwhile.
  useEffect(() => {
    ref.current?.hidePopover()
    if (shown.length > 0) ref.current?.showPopover()
    // The button that closed one is gone with it.
    if (document.activeElement === document.body && left.current instanceof HTMLElement) left.current.focus()
  }, [shown])
  useEffect(() => {
    const toasts = ref.current
    if (toasts === null) return
    const area = toasts.closest('dialog') ?? document.documentElement
    const keepRoom = (room: number) => area.style.setProperty('--toasts', `${room}px`)
    const observer = new ResizeObserver(() => {
      const covered = coveredOf(area, toasts.getBoundingClientRect())
      keepRoom(covered)
      if (covered === 0) return
      const { activeElement } = document
      const cell = document.getElementById(activeElement?.getAttribute('aria-activedescendant') ?? '')
      const inUse = cell ?? activeElement?.closest('input, select, textarea')
      inUse?.scrollIntoView({ block: 'nearest' })
    })
    observer.observe(toasts)
    observer.observe(area)
    return () => {
      observer.disconnect()
      keepRoom(0)
    }
  }, [])
  return (
    <section
      ref={ref}
      popover="manual"
      class={styles.toasts}
      aria-label={t.value.shell.notifications}
      onFocusIn={({ relatedTarget }) => {
        if (!isIn(ref.current, relatedTarget)) left.current = relatedTarget
      }}
      onFocusOut={({ relatedTarget }) => {
        if (relatedTarget !== null && !isIn(ref.current, relatedTarget)) left.current = null
      }}
    >
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

function isIn(toasts: HTMLElement | null, target: EventTarget | null): boolean {
  return target instanceof Node && toasts?.contains(target) === true
}

/** How much of the end of a dialog, or of the window, lies behind. */
function coveredOf(area: HTMLElement, toasts: DOMRect): number {
  if (toasts.height === 0) return 0
  if (area === document.documentElement) return innerHeight - toasts.top
  const { left, right, bottom } = area.getBoundingClientRect()
  return toasts.right <= left || right <= toasts.left ? 0 : Math.max(0, bottom - toasts.top)
}
