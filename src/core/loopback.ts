/** Returns true if a host, with or without the brackets of an IPv6 address, means the local machine. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(hostname)
}
