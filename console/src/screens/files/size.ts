/** Sizes of files as people read them. */
import { formatNumber } from '../../messages/messages.ts'

const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const

/** Such as `3.4 MB`. */
export function sizeText(bytes: number): string {
  const at = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3))
  const unit = units[at] ?? 'byte'
  return formatNumber(bytes / 1000 ** at, {
    style: 'unit',
    unit,
    unitDisplay: at === 0 ? 'long' : 'short',
    maximumFractionDigits: 1,
  })
}
