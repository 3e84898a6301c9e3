// Sends an action of a form to the server, and returns the response.
export async function send(action, input = {}) {
  const response = await fetch(action, { method: 'POST', body: JSON.stringify(input) }).catch(() => {
    throw new Error('the local run does not respond: it has ended, or this page is from an earlier local run');
  });
  const output = await response.json();
  if (!response.ok) throw new Error(output.problem);
  return output;
}

/**
 * Handles the submit event of a form. The buttons are disabled until `act` ends. The element `problem` shows an error.
 */
export function onSubmit(form, problem, act) {
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const buttons = [...form.querySelectorAll('button')].filter(({ disabled }) => !disabled);
    for (const button of buttons) button.disabled = true;
    problem.textContent = '';
    form.setAttribute('aria-busy', 'true');
    try {
      await act(new FormData(form));
    } catch (error) {
      problem.textContent = error.message;
    }
    form.removeAttribute('aria-busy');
    for (const button of buttons) button.disabled = false;
  });
}
