/** Calls what the user handed in (observer, logger); neither a throw nor a rejection changes anything. */
export function callGuarded(
  call: () => unknown,
  onError: (error: unknown) => void = () => {},
): void {
  try {
    const returned = call();
    // An async function is assignable to one that returns nothing.
    if (returned instanceof Promise) returned.catch(onError);
  } catch (error) {
    onError(error);
  }
}
