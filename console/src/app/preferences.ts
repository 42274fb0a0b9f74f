/** How the console looks to this browser: nothing of the service and nothing secret is stored. */
import { effect, signal } from '@preact/signals'

export type Scheme = 'system' | 'light' | 'dark'

const STORED = 'console.scheme'

export const scheme = signal<Scheme>(storedScheme())

function storedScheme(): Scheme {
  const stored = localStorage.getItem(STORED)
  return stored === 'light' || stored === 'dark' ? stored : 'system'
}

export function startPreferences(): void {
  effect(() => {
    if (scheme.value === 'system') {
      localStorage.removeItem(STORED)
      delete document.documentElement.dataset.scheme
    } else {
      localStorage.setItem(STORED, scheme.value)
      document.documentElement.dataset.scheme = scheme.value
    }
  })
}

/** Whether one points by a finger, and so has hardly any keys. */
export function isTouched(): boolean {
  return matchMedia('(pointer: coarse)').matches
}
