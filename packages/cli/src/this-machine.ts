/** Whether an address is on this machine, where nobody is between. */
export function isThisMachine(url: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\]|.*\.localhost)$/.test(new URL(url).hostname)
}
