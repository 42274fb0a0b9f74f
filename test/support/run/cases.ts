/** How many cases a random test draws: SERVICE_TEST_CASES, or as many as it usually does. */
export function casesOr(usual: number): number {
  return Number(process.env.SERVICE_TEST_CASES ?? usual)
}
